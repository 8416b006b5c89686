import {
  createContactFor,
  findRecipient,
  identityByAddress,
  lastSenderOf,
  prefetchConsent,
  prefetchRecipient,
  recipientMark,
  recipientSubject,
  type IdentityRow,
} from "../../contacts/index.ts";
import {
  beginConversation,
  currentConversation,
  findConversation,
  isActive,
  type ConversationRow,
} from "../../conversations/index.ts";
import { mediumOf } from "../../kernel/index.ts";
import { authorOf, type Call, type Command } from "../../operations/index.ts";
import { rememberJob } from "../../queue/index.ts";
import {
  chooseSender,
  prefetchSender,
  rememberSender,
  type SenderRow,
} from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { sendMessageSchema, type SendMessage } from "../input-types.ts";
import { outbox } from "../rows.ts";
import { channelOf } from "../rules.ts";
import { messageResource } from "../show.ts";
import type { Message } from "../types.ts";
import { acceptMessage } from "./accept-message.ts";

/** Queues or schedules a message. Any engine may hand it over. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  shows: ({ to, ...draft }, message, { scope, services }) =>
    message?.id ?? recipientMark(services.secret, scope, mediumOf(channelOf(draft)), to),
  storesKey: true,
  prefetch(tx, input, { secret }) {
    const channel = channelOf(input);
    const medium = mediumOf(channel);
    prefetchSender(tx, channel, input.from);
    const isKnown = prefetchRecipient(tx, medium, input.to);
    if (!isKnown && input.to.startsWith("+")) prefetchConsent(tx, secret, medium, input.to);
  },
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
  rememberRecipient(tx, input.to, identity, conversation, sender);
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    isNewContact: known === undefined,
    isInBatch,
    author: authorOf(call.caller),
  };
  return messageResource(await acceptMessage(tx, call, input, correspondence));
}

/** Lets later messages to the recipient prefetch what they read and write. */
function rememberRecipient(
  tx: Tx,
  to: string,
  { contact_id, medium, address }: IdentityRow,
  { id: conversation_id }: ConversationRow,
  sender: SenderRow,
): void {
  const subject = recipientSubject(tx, medium, to);
  rememberSender(tx, subject, sender);
  tx.remember(subject, () => [
    { index: identityByAddress, key: [medium, address] },
    { index: currentConversation, key: [contact_id, medium] },
    // The new message, and one before it.
    { index: outbox, key: [conversation_id], limit: 2 },
  ]);
  rememberJob(tx, subject, { kind: "send", key: { conversation_id } });
}
