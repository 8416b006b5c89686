import { agentSessionOf, agentSessions, runs, runsOfConversation } from "../agents/index.ts";
import { contactErased } from "../contacts/index.ts";
import {
  conversations,
  conversationsOfContact,
  notes,
  writeConversation,
  type ConversationRow,
} from "../conversations/index.ts";
import { appendEvent } from "../events/index.ts";
import type { ContactId, Scope } from "../kernel/index.ts";
import {
  attempts,
  attemptsOfMessage,
  messages,
  messagesOfContact,
  removeWords,
  timeline,
  type MessageRow,
} from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import {
  eraseStoredResponses,
  idempotency,
  idempotencyByKey,
  type HistoryChunks,
  type Services,
} from "../operations/index.ts";
import type { ScopedCollection, Seen } from "../ports/index.ts";
import { disarm, findJob, type ChunkResult } from "../queue/index.ts";
import { messageScores } from "../sentiment/index.ts";
import type { Tx } from "../store/index.ts";
import { removeMail } from "../webchat/index.ts";
import { eraseEvents } from "./erase-events.ts";

type Step = (tx: Tx, id: string, chunks: HistoryChunks) => Promise<boolean>;

/**
 * Removes one chunk of an erased contact's history. Returns whether there is more. The call that
 * finds nothing more also ends the job and publishes `contact.erased`.
 *
 * The order matters. A transaction that appends an event about a message or a conversation writes
 * that row. So once those rows are gone, no more events about them are appended.
 */
export async function eraseHistory(
  tx: Tx,
  id: ContactId,
  { historyChunks }: Services,
): Promise<ChunkResult> {
  for (const step of steps) {
    if (!(await step(tx, id, historyChunks))) return "more";
  }
  // The operation and the job may both get here. Only the one that ends the job publishes. Each
  // contact has its own transaction, because every webhook may get the event. The event has the
  // contact in its data only, not as its subject: nothing about the contact is stored any more.
  if (await disarm(tx, { kind: "erase", key: { contact_id: id } })) {
    appendEvent(tx, contactErased, { contact_id: id }, {});
  }
  return "done";
}

/**
 * Removes one chunk of the stored responses about an erased contact's address. Returns whether
 * there is more. The last chunk also ends the job. After that nothing is removed: what a repeated
 * request would find is about a later owner of the address.
 */
export async function eraseAddress(
  tx: Tx,
  hash: string,
  { responses }: HistoryChunks,
): Promise<ChunkResult> {
  const job = { kind: "erase-address", key: { hash } } as const;
  if ((await findJob(tx, job)) === undefined) return "done";
  if (!(await eraseStoredResponses(tx, hash, responses))) return "more";
  await disarm(tx, job);
  return "done";
}

/** Each step returns whether it found nothing left to do. */
const steps: readonly Step[] = [
  eraseMessages,
  eraseConversations,
  eraseScoresAndObservations,
  (tx, id, { responses }) => eraseStoredResponses(tx, id, responses),
  eraseEvents,
];

async function eraseMessages(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(messagesOfContact, [id], chunks.rows);
  await Promise.all(found.map((message) => eraseMessage(tx, message, chunks)));
  return found.length === 0;
}

async function eraseMessage(
  tx: Tx,
  message: Seen<MessageRow>,
  chunks: HistoryChunks,
): Promise<void> {
  const { id, idempotency_key } = message;
  const [attemptRows, timelineEntries, stored, hasNoResponses] = await Promise.all([
    tx.list(attemptsOfMessage, [id], chunks.parts),
    tx.list(timeline.primary, [id], chunks.parts),
    idempotency_key === null ? undefined : tx.get(idempotencyByKey, [idempotency_key]),
    eraseStoredResponses(tx, id, chunks.responses),
    removeMail(tx, id),
  ]);
  for (const attempt of attemptRows) tx.remove(attempts, attempt);
  for (const entry of timelineEntries) tx.remove(timeline, entry);
  if (stored?.subject_id === id) tx.update(idempotency, stored, { response: null });
  if (message.status === "scheduled") {
    await disarm(tx, { kind: "release", key: { message_id: id } });
  }
  if (hasNoResponses && Math.max(attemptRows.length, timelineEntries.length) < chunks.parts) {
    await removeWords(tx, message);
    tx.remove(messages, message);
  }
}

async function eraseConversations(tx: Tx, id: string, chunks: HistoryChunks): Promise<boolean> {
  const found = await tx.list(conversationsOfContact, [id], chunks.rows);
  await Promise.all(found.map((conversation) => eraseConversation(tx, conversation, chunks)));
  return found.length === 0;
}

async function eraseConversation(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  chunks: HistoryChunks,
): Promise<void> {
  const { id } = conversation;
  const [noteRows, runRows, session] = await Promise.all([
    tx.list(notes.primary, [id], chunks.parts),
    tx.list(runsOfConversation, [id], chunks.rows),
    tx.get(agentSessionOf, [id]),
  ]);
  if (session !== undefined) tx.remove(agentSessions, session);
  const removed = await Promise.all([
    ...noteRows.map((note) => removeShown(tx, notes, note, chunks)),
    ...runRows.map((run) => removeShown(tx, runs, run, chunks)),
  ]);
  const hasNoResponses = await eraseStoredResponses(tx, id, chunks.responses);
  const isLast = noteRows.length < chunks.parts && runRows.length < chunks.rows;
  if (!isLast || !hasNoResponses || removed.includes(false)) return;
  tx.remove(conversations, await writeConversation(tx, conversation, { labels: [] }));
}

/**
 * Erases the stored responses that show a row, and then removes the row. Keeps the row while
 * responses are left, because they are found by it. Returns whether the row is removed.
 */
async function removeShown<R extends Scope & { readonly id: string }>(
  tx: Tx,
  collection: ScopedCollection<R>,
  row: Seen<R>,
  { responses }: HistoryChunks,
): Promise<boolean> {
  const hasNoResponses = await eraseStoredResponses(tx, row.id, responses);
  if (hasNoResponses) tx.remove(collection, row);
  return hasNoResponses;
}

/** Removes the sentiment scores and the observations. */
async function eraseScoresAndObservations(
  tx: Tx,
  id: string,
  chunks: HistoryChunks,
): Promise<boolean> {
  const [scores, observationRows] = await Promise.all([
    tx.list(messageScores.primary, [id], chunks.rows),
    tx.list(observations.primary, [id], chunks.rows),
  ]);
  for (const score of scores) tx.remove(messageScores, score);
  await Promise.all(observationRows.map((each) => removeShown(tx, observations, each, chunks)));
  return scores.length === 0 && observationRows.length === 0;
}
