/** The latest messages of a conversation, and which of them have been answered. */
import { agentSessionOf, type AgentSessionRow } from "../rows.ts";
import { consentFor, consentOf, identityByAddress } from "../../contacts/index.ts";
import type { ConversationRow } from "../../conversations/index.ts";
import { mediumOf } from "../../kernel/index.ts";
import { type MessageRow, messagesOfConversation } from "../../messages/index.ts";
import { maxUnanswered } from "../runs/limits.ts";
import type { Tx } from "../../store/index.ts";

/**
 * Returns the contact's messages that neither the agent nor a person has answered, oldest first.
 * Keyword messages are handled elsewhere and are left out.
 */
export async function findUnanswered(
  tx: Tx,
  conversation: ConversationRow,
  { heard_through }: Pick<AgentSessionRow, "heard_through">,
): Promise<readonly MessageRow[]> {
  const rows = await latestMessages(tx, conversation, maxUnanswered, heard_through);
  return questionsAfter(rows, (row) => isAnswer(row) && row.author_type === "human");
}

/**
 * Returns when the contact wrote the first message that nobody has answered, in milliseconds since
 * the epoch: neither the conversation's agent, nor a person, nor the host application. Null if
 * there is none.
 */
export async function unansweredSince(
  tx: Tx,
  conversation: ConversationRow,
): Promise<number | null> {
  const session = await tx.get(agentSessionOf, [conversation.id]);
  if (session === undefined) return null;
  const rows = await latestMessages(tx, conversation, maxUnanswered, session.heard_through);
  const [first] = questionsAfter(rows, isAnswer);
  return first?.created_at ?? null;
}

/**
 * Returns the sequence number of the last message that was said to the contact by an agent, a
 * person or the host application. Returns 0 if there is none.
 */
export async function answeredThrough(tx: Tx, conversation: ConversationRow): Promise<number> {
  const rows = await latestMessages(tx, conversation, maxUnanswered);
  return rows.findLast(isAnswer)?.sequence ?? 0;
}

/** Returns the contact's latest messages, answered or not, oldest first. */
export async function latestQuestions(
  tx: Tx,
  conversation: ConversationRow,
): Promise<readonly MessageRow[]> {
  return questionsAfter(await latestMessages(tx, conversation, maxUnanswered), () => false);
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

/** Returns the contact's messages after the last one for which `ends` is true. */
function questionsAfter(
  rows: readonly MessageRow[],
  ends: (row: MessageRow) => boolean,
): readonly MessageRow[] {
  const last = rows.findLastIndex(ends);
  return rows
    .slice(last + 1)
    .filter(({ direction, keyword }) => direction === "inbound" && keyword === null);
}

/** Returns the latest messages, at most `max`, with a number above `after`, oldest first. */
export async function latestMessages(
  tx: Tx,
  { id, message_count }: ConversationRow,
  max: number,
  after = 0,
): Promise<readonly MessageRow[]> {
  const length = Math.min(max, Math.max(0, message_count - after));
  // Sequence numbers have no gaps, so they can be computed.
  const sequences = Array.from({ length }, (_, i) => message_count - length + 1 + i);
  const rows = await Promise.all(
    sequences.map((each) => tx.list(messagesOfConversation, [id, each], 1)),
  );
  return rows.flat();
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
 * reply to a keyword, answer nobody's question.
 */
const isAnswer = (row: MessageRow): boolean => isSaid(row) && row.author_type !== "system";
