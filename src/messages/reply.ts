import {
  changeConversation,
  changeStatus,
  findOwnConversation,
  supersededError,
  contactAddress,
  type ConversationRow,
} from "../conversations/index.ts";
import { type Reply, replySchema } from "./input-types.ts";
import type { Message } from "./types.ts";
import { messageResource } from "./reads.ts";
import { channelOf } from "./rules.ts";
import type { Command } from "../operations/index.ts";
import { acceptMessage } from "./accept.ts";
import { chooseSender } from "../senders/index.ts";
import { identitiesOfContact, identityByAddress, type IdentityRow } from "../contacts/index.ts";
import { messageById } from "./rows.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Sends a person's message to the conversation's last address. The person takes over: from this
 * transaction on, no agent handles the conversation. The assignee stays, so that a hand-back
 * returns it to its agent.
 */
export const reply: Command<Reply, Message> = {
  kind: "command",
  name: "conversations.reply",
  input: replySchema,
  status: 201,
  shows: ({ id }, message) => message?.id ?? id,
  storesKey: true,
  async run(tx, { id, body, media, author_id }, call) {
    const { services } = call;
    const found = await findOwnConversation(tx, id);
    const opens =
      found.status === "closed" ? changeStatus(found, { status: "open" }, tx.now) : undefined;
    if (opens?.decision === "superseded") throw supersededError();
    const opened = opens?.decision === "change" ? opens.patch : {};
    const { drawId } = services;
    const conversation = await changeConversation(tx, drawId, found, {
      ...opened,
      handler: "human",
    });

    const draft = { body, ...(media === undefined ? {} : { media }) };
    const channel = found.medium === "webchat" ? "webchat" : channelOf(draft);
    const identity = await findCorrespondent(tx, conversation);
    const wish = { channel, from: undefined, last: identity.last_sender_id, to: identity.address };
    const sender = await chooseSender(tx, wish, services.transports);
    const author = {
      type: "human" as const,
      ...(author_id === undefined ? {} : { id: author_id }),
    };
    const correspondence = {
      channel,
      identity,
      sender,
      conversation,
      isNewConversation: false,
      author,
    };
    return messageResource(await acceptMessage(tx, call, draft, correspondence));
  },
};

/**
 * Returns the address to reply to. If the contact has several, it is the one of the last message.
 * @throws TidingsError `conflict` if the contact has no address left
 */
export async function findCorrespondent(
  tx: Tx,
  conversation: ConversationRow,
): Promise<Seen<IdentityRow>> {
  const { contact_id, medium, last_message_id } = conversation;
  const at = (address: string): Promise<Seen<IdentityRow> | undefined> =>
    tx.get(identityByAddress, [medium, address], { hold: true });
  const last = last_message_id === null ? undefined : await tx.get(messageById, [last_message_id]);
  const usual = last && (await at(contactAddress(last)));
  if (usual?.contact_id === contact_id) return usual;
  const [any] = await tx.list(identitiesOfContact, [contact_id, medium], 1);
  const first = any && (await at(any.address));
  if (first?.contact_id === contact_id) return first;
  throw new TidingsError("conflict", `The contact has no ${medium} address any more.`);
}
