/** What the contact has written last in a conversation, and what of it has been answered. */
import { consentFor, consentOf, identityByAddress } from "../../contacts/index.ts";
import { firstNumber, lastSequence, type ConversationRow } from "../../conversations/index.ts";
import { mediumOf } from "../../kernel/index.ts";
import { messagesByAuthor, messagesOfConversation, type MessageRow } from "../../messages/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentSessionOf, type AgentSessionRow } from "../rows.ts";

/** The maximum number of messages that one turn answers. If there are more, it reads the last. */
export const maxUnanswered = 50;

/**
 * The maximum number of messages of a conversation that are read to find the last answer, or since
 * when the contact waits for one.
 */
const maxSearched = 1_280;

/**
 * Returns the contact's messages that neither the agent nor a person has answered: the latest
 * `maxUnanswered`, oldest first. Keyword messages are handled elsewhere and are left out.
 */
export function findUnanswered(
  tx: Tx,
  conversation: ConversationRow,
  { heard_through }: Pick<AgentSessionRow, "heard_through">,
): Promise<readonly MessageRow[]> {
  return latestUnanswered(tx, conversation, "person", { after: heard_through });
}

/**
 * Returns when the contact wrote the first message that nobody has answered, in milliseconds since
 * the epoch: neither the conversation's agent, nor a person, nor the host application. Looks at the
 * contact's latest `maxSearched` messages. Null if there is none.
 */
export async function unansweredSince(
  tx: Tx,
  conversation: ConversationRow,
): Promise<number | null> {
  const session = await tx.get(agentSessionOf, [conversation.id]);
  if (session === undefined) return null;
  const since = { after: session.heard_through };
  const latest = await latestUnanswered(tx, conversation, "anybody", since);
  const isCut = latest.length === maxUnanswered;
  const [first] = isCut
    ? await latestUnanswered(tx, conversation, "anybody", { ...since, max: maxSearched })
    : latest;
  return first?.created_at ?? null;
}

/**
 * Returns the sequence number up to which the contact's messages are answered. The message after it
 * is the first that neither an agent, nor a person, nor the host application has answered.
 */
export async function answeredThrough(tx: Tx, conversation: ConversationRow): Promise<number> {
  const [first] = await latestUnanswered(tx, conversation, "anybody");
  return first === undefined ? lastSequence(conversation) : first.sequence - 1;
}

/** Which of the contact's messages are looked at. */
interface Range {
  /** Only those with a number above this one. Default: 0. */
  readonly after?: number;
  /** The maximum number. The latest are chosen. Default: `maxUnanswered`. */
  readonly max?: number;
}

/** Returns the contact's latest messages, answered or not, oldest first. */
export async function latestFromContact(
  tx: Tx,
  conversation: ConversationRow,
  { after = 0, max = maxUnanswered }: Range = {},
): Promise<readonly MessageRow[]> {
  const { id } = conversation;
  const limit = Math.min(max, lastSequence(conversation) - after);
  if (limit <= 0) return [];
  const rows = await tx.list(messagesByAuthor, [id, "contact", null], limit, "descending");
  return rows.filter(({ sequence }) => sequence > after).toReversed();
}

/**
 * Returns the message to which the agent replies: the last of these messages. If its address has
 * opted out of the sender that it was sent to, all messages from that address are skipped. Returns
 * undefined if none is left.
 */
export async function messageToAnswer(
  tx: Tx,
  messages: readonly MessageRow[],
): Promise<MessageRow | undefined> {
  const optedOut = new Set<string>();
  for (const message of messages.toReversed()) {
    const { channel, from, to } = message;
    if (optedOut.has(from)) continue;
    const identity = await tx.get(identityByAddress, [mediumOf(channel), from], { hold: true });
    const consent = identity && consentFor(consentOf(identity), to);
    if (consent !== "opted_out") return message;
    optedOut.add(from);
  }
  return undefined;
}

type Answerer = "person" | "anybody";

/** Returns those of the contact's latest messages that are not answered, oldest first. */
async function latestUnanswered(
  tx: Tx,
  conversation: ConversationRow,
  by: Answerer,
  range?: Range,
): Promise<readonly MessageRow[]> {
  const messages = await latestFromContact(tx, conversation, range);
  const [first] = messages;
  if (first === undefined) return messages;
  const answered = await lastAnswer(tx, conversation, by, first.sequence);
  return messages.filter(({ sequence }) => sequence > answered);
}

/**
 * Returns the number that the last answer got when it was written. Returns 0 if there is none after
 * `after`, or none among the latest `maxSearched` messages.
 */
async function lastAnswer(
  tx: Tx,
  { id }: ConversationRow,
  by: Answerer,
  after: number,
): Promise<number> {
  let last = 0;
  // Usually one of the last few messages is an answer. If not, more are read.
  for (let limit = 5; limit <= maxSearched; limit *= 4) {
    const rows =
      by === "person"
        ? await tx.list(messagesByAuthor, [id, "human", null], limit, "descending")
        : await tx.list(messagesOfConversation, [id], limit, "descending");
    const answers = rows.filter(isAnswer);
    last = Math.max(0, ...answers.map(firstNumber));
    // A message for later answers what came before it was written. Before its place in the thread,
    // there may be answers that were written later. Before the place of an answer that was not for
    // later, there are none.
    const isFound = answers.some(({ first_sequence }) => first_sequence === null);
    if (isFound || rows.length < limit || rows.some(({ sequence }) => sequence <= after)) break;
  }
  return last;
}

/**
 * Whether a message has been said to the contact, or will be. What the host application scheduled
 * has not been said yet. A scheduled message of a person or of an agent counts: it is an answer
 * that a policy deferred, or that a person has planned.
 */
export function isSaid({
  direction,
  status,
  author_type,
}: Pick<MessageRow, "direction" | "status" | "author_type">): boolean {
  if (direction === "inbound") return false;
  if (status === "scheduled") return author_type === "agent" || author_type === "human";
  return status !== "canceled" && status !== "expired" && status !== "failed";
}

/**
 * Whether a message answers what the contact wrote before it. The engine's own texts, such as the
 * reply to a keyword, answer nobody.
 */
const isAnswer = (row: MessageRow): boolean => isSaid(row) && row.author_type !== "system";
