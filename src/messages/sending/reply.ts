import {
  contactById,
  identitiesOfContact,
  identityByAddress,
  lastSenderOf,
  maxIdentities,
  preferredAddress,
  type IdentityRow,
} from "../../contacts/index.ts";
import {
  changeConversation,
  changeStatus,
  contactAddress,
  conversationById,
  conversations,
  supersededError,
  touchConversation,
  type ConversationRow,
} from "../../conversations/index.ts";
import {
  TidingsError,
  withId,
  type Author,
  type ById,
  type FieldError,
} from "../../kernel/index.ts";
import { personOf, type Command } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { prefetchJob } from "../../queue/index.ts";
import { chooseSender, senderByAddress } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { replySchema, type Reply } from "../input-types.ts";
import { messageById, messagesOfConversation, type MessageRow } from "../rows.ts";
import { channelOf } from "../rules.ts";
import { messageResource } from "../show.ts";
import type { Message } from "../types.ts";
import { acceptMessage, type AcceptContext } from "./accept-message.ts";

/**
 * Sends a person's message to the address of the last message. The person takes over: from this
 * transaction on, no agent handles the conversation. A hand-back returns it to its agent, which the
 * agent's session names.
 */
export const reply: Command<Reply & ById, Message> = {
  kind: "command",
  name: "conversations.reply",
  input: (limits) => withId(replySchema(limits), "The id of the conversation."),
  status: 201,
  shows: ({ id }, message) => message?.id ?? id,
  async touch(tx, { id }) {
    const conversation = await tx.get(conversationById, [id]);
    if (conversation !== undefined) tx.touch(conversations, conversation);
  },
  storesKey: true,
  async run(tx, { id, body, media, from, author_id }, call) {
    const person = personOf(call.caller, author_id);
    const found = await touchConversation(tx, id);
    const conversation = await changeConversation(tx, found, {
      ...(await reopened(tx, found)),
      handler: "human",
      ...assigneeOnReply(found, person),
    });

    const draft = { body, from, ...(media === undefined ? {} : { media }) };
    const author = {
      type: "human" as const,
      ...(person === undefined ? {} : { id: person }),
    };
    return messageResource(await sendInConversation(tx, call, draft, conversation, author));
  },
};

/**
 * Returns the columns that open a closed conversation again.
 * @throws TidingsError `conflict` if a newer one has replaced it
 */
async function reopened(tx: Tx, conversation: ConversationRow): Promise<Partial<ConversationRow>> {
  if (conversation.status !== "closed") return {};
  const change = changeStatus(conversation, { status: "open" }, tx.now);
  if (change.decision === "superseded") throw await supersededError(tx, conversation);
  return change.decision === "change" ? change.patch : {};
}

interface ConversationDraft extends Pick<Reply, "body" | "media" | "from"> {
  /**
   * The contact's message that this one answers. The answer goes to its address and comes from the
   * sender that it was written to. If the contact no longer has the address, the answer goes to
   * another one. Default: the address of the last message, apart from opt-outs and scheduled
   * messages, and the sender that the contact saw last there.
   */
  readonly answers?: Pick<MessageRow, "from" | "to"> | undefined;
}

/**
 * Sends a message in an active conversation, from the given sender or else as `answers` says.
 * @throws TidingsError `conflict` if the contact has no address left, `no_sender`, and the errors
 * of `acceptMessage`
 */
export async function sendInConversation(
  tx: Tx,
  call: AcceptContext,
  { answers, ...draft }: ConversationDraft,
  conversation: Seen<ConversationRow>,
  author: Author,
): Promise<Seen<MessageRow>> {
  const channel = conversation.medium === "webchat" ? "webchat" : channelOf(draft);
  prefetchJob(tx, { kind: "send", key: { conversation_id: conversation.id } });
  const identity = await findCorrespondent(tx, conversation, answers?.from);
  const { address: to } = identity;
  // Another sender may have written since, and the contact may have opted out of that one only.
  const asked = answers?.from === to ? await tx.get(senderByAddress, [answers.to]) : undefined;
  const known = [asked ?? null, lastSenderOf(identity)];
  const request = { channel, from: draft.from, known, to };
  const sender = await chooseSender(tx, call.services, request);
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    author,
  };
  return acceptMessage(tx, call, draft, correspondence).catch(throwWithoutRecipient);
}

/** The recipient of a reply follows from the conversation, so it is no field of the request. */
function throwWithoutRecipient(error: unknown): never {
  const isAboutIt = ({ pointer }: FieldError): boolean => pointer === "/to";
  if (!(error instanceof TidingsError) || !error.errors.some(isAboutIt)) throw error;
  const errors = error.errors.map((each) => (isAboutIt(each) ? { ...each, pointer: "" } : each));
  throw new TidingsError(error.code, error.message, { errors });
}

/**
 * Returns the assignee after a person's reply: that person, or nobody if the reply names no author.
 * A person who is already assigned stays.
 */
function assigneeOnReply(
  { assignee_type }: ConversationRow,
  person: string | undefined,
): Partial<ConversationRow> {
  if (assignee_type === "human") return {};
  return person === undefined
    ? { assignee_type: null, assignee_id: null }
    : { assignee_type: "human", assignee_id: person };
}

/**
 * Returns the address to send to. If neither the caller nor the conversation determines it, that is
 * the address that any message to the contact goes to.
 * @throws TidingsError `conflict` if the contact has no address left
 */
async function findCorrespondent(
  tx: Tx,
  conversation: ConversationRow,
  wanted: string | undefined,
): Promise<Seen<IdentityRow>> {
  const { contact_id, medium } = conversation;
  const at = (address: string): Promise<Seen<IdentityRow> | undefined> =>
    tx.get(identityByAddress, [medium, address], { hold: true });
  const to = wanted ?? (await lastAddress(tx, conversation));
  const usual = to === undefined ? undefined : await at(to);
  if (usual?.contact_id === contact_id) return usual;
  const [contact, identities] = await Promise.all([
    tx.get(contactById, [contact_id]),
    tx.list(identitiesOfContact, [contact_id, medium], maxIdentities),
  ]);
  const preferred = contact && preferredAddress(contact, identities);
  const found = preferred && (await at(preferred.address));
  if (found?.contact_id === contact_id) return found;
  throw new TidingsError("conflict", `The contact no longer has a ${medium} address.`);
}

/** The maximum number of messages that are searched for the last address. */
const maxSearched = 1_280;

/**
 * Returns the contact's address in the last message. Opt-outs and their confirmations are passed
 * over: a contact with several addresses may still expect an answer at another one. So are
 * scheduled messages, which the contact has not seen yet.
 */
async function lastAddress(
  tx: Tx,
  { id, last_message_id }: ConversationRow,
): Promise<string | undefined> {
  if (last_message_id === null) return undefined;
  const last = await tx.get(messageById, [last_message_id]);
  if (last === undefined || !isPassedOver(last)) return last && contactAddress(last);
  // Usually one of the last few messages counts. If not, more are read.
  for (let limit = 5; limit <= maxSearched; limit *= 4) {
    const rows = await tx.list(messagesOfConversation, [id], limit, "descending");
    const found = rows.find((row) => !isPassedOver(row));
    if (found !== undefined) return contactAddress(found);
    if (rows.length < limit) break;
  }
  return contactAddress(last);
}

const isPassedOver = ({ keyword, status }: MessageRow): boolean =>
  keyword === "opt_out" || status === "scheduled";
