import { messageResource } from "./resource.ts";
import { mediumOf } from "../kernel/index.ts";
import { channelOf } from "./rules.ts";
import { type Message, type SendMessage, sendMessageSchema } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { acceptMessage } from "./accept.ts";
import { chooseSender } from "../senders/index.ts";
import { findRecipient, meetContact, recipientMark } from "../contacts/index.ts";
import { beginConversation, findConversation, isActive } from "../conversations/index.ts";

/** Accepts a message: it is queued, or scheduled, and will be handed over by whichever engine gets to it. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  shows: ({ to, ...draft }, message, { scope, services }) =>
    message?.id ?? recipientMark(services.secret, scope, mediumOf(channelOf(draft)), to),
  storesKey: true,
  async run(tx, input, call) {
    const { drawId } = call.services;
    const channel = channelOf(input);
    const medium = mediumOf(channel);
    const known = await findRecipient(tx, medium, input.to);
    const identity =
      known ?? (await meetContact(tx, drawId, call.services.secret, medium, input.to));
    const wish = { channel, from: input.from, last: identity.last_sender_id, to: identity.address };
    // Neither rests on the other, so they are read together; and a contact that was met just now has no conversation.
    const [sender, current] = await Promise.all([
      chooseSender(tx, wish, call.services.transports),
      known && findConversation(tx, known),
    ]);
    const goesOn = isActive(current);
    const conversation = goesOn ? current : await beginConversation(tx, drawId, identity, current);
    const { caller } = call;
    const author = {
      type: "api" as const,
      ...(caller.type === "key" ? { id: caller.key_id } : {}),
    };
    const correspondence = {
      channel,
      identity,
      sender,
      conversation,
      isNew: !goesOn,
      isMet: known === undefined,
      author,
    };
    return messageResource(await acceptMessage(tx, call, input, correspondence));
  },
};
