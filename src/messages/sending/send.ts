import {
  createContactFor,
  findRecipient,
  lastSenderOf,
  recipientMark,
} from "../../contacts/index.ts";
import { beginConversation, findConversation, isActive } from "../../conversations/index.ts";
import { mediumOf } from "../../kernel/index.ts";
import { authorOf, type Call, type Command } from "../../operations/index.ts";
import { chooseSender } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { sendMessageSchema, type SendMessage } from "../input-types.ts";
import { channelOf } from "../rules.ts";
import { messageResource } from "../show.ts";
import type { Message } from "../types.ts";
import { acceptMessage } from "./accept-message.ts";
import { prefetchSend, rememberSend } from "./prefetch-send.ts";

/** Queues or schedules a message. Any engine may hand it over. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  shows: ({ to, ...draft }, message, { scope, services }) =>
    message?.id ?? recipientMark(services.secret, scope, mediumOf(channelOf(draft)), to),
  storesKey: true,
  prefetch: prefetchSend,
  run: (tx, input, call) => send(tx, input, call, { isInBatch: false }),
};

/** Sends a message. An item of a batch lets other messages of the account go first. */
export async function send(
  tx: Tx,
  input: SendMessage,
  call: Call,
  { isInBatch }: { readonly isInBatch: boolean },
): Promise<Message> {
  const { services } = call;
  const channel = channelOf(input);
  const medium = mediumOf(channel);
  const known = await findRecipient(tx, medium, input.to);
  const request = {
    channel,
    from: input.from,
    known: [lastSenderOf(known)],
    to: known?.address ?? input.to,
  };
  // A new contact has no conversation yet.
  const [sender, current] = await Promise.all([
    chooseSender(tx, services, request),
    known && findConversation(tx, known),
  ]);
  const identity = known ?? (await createContactFor(tx, services, medium, input.to));
  const conversation = isActive(current) ? current : await beginConversation(tx, identity, current);
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    isNewContact: known === undefined,
    isInBatch,
    author: authorOf(call.caller),
  };
  rememberSend(tx, input, correspondence);
  return messageResource(await acceptMessage(tx, call, input, correspondence));
}
