import { contactById } from "../contacts/index.ts";
import { conversationsOfContact, writeConversation } from "../conversations/index.ts";
import type { ContactId } from "../kernel/index.ts";
import { messages, messagesOfContact } from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import type { HistoryChunks } from "../operations/index.ts";
import { arm, disarm, type ChunkResult } from "../queue/index.ts";
import { messageScores, scoreJob } from "../sentiment/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Moves one chunk of a merged contact's history to its survivor. Returns whether there is more. The
 * last chunk also ends the job.
 *
 * The merged contact's row is held. A concurrent merge or erasure of the survivor writes that
 * row, and this transaction runs again. No new rows are added to the history, because the merge
 * wrote every row that leads to it.
 */
export async function moveHistory(
  tx: Tx,
  id: ContactId,
  { moved: max }: HistoryChunks,
): Promise<ChunkResult> {
  const merged = await tx.get(contactById, [id], { hold: true });
  // A contact that was erased with its survivor has no target. The erasure removes its history.
  const to = merged?.merged_into ?? null;
  const moved = to === null ? 0 : await moveTo(tx, id, to, max);
  if (moved >= max) return "more";
  await disarm(tx, { kind: "merge", key: { contact_id: id } });
  return "done";
}

/**
 * Moves up to `max` rows of each kind. Returns the number of rows of the kind that had the most.
 */
async function moveTo(tx: Tx, id: string, contact_id: ContactId, max: number): Promise<number> {
  const [messageRows, conversationRows, scores, observationRows] = await Promise.all([
    tx.list(messagesOfContact, [id], max),
    tx.list(conversationsOfContact, [id], max),
    tx.list(messageScores.primary, [id], max),
    tx.list(observations.primary, [id], max),
  ]);
  for (const message of messageRows) {
    const author = message.author_type === "contact" ? { author_id: contact_id } : {};
    tx.update(messages, message, { contact_id, ...author });
  }
  for (const conversation of conversationRows) {
    await writeConversation(tx, conversation, { contact_id });
  }
  for (const score of scores) {
    const { version: _, ...row } = score;
    tx.remove(messageScores, score);
    tx.insert(messageScores, { ...row, contact_id });
  }
  // Pending scores are now computed by the survivor's job.
  if (scores.some(({ state }) => state === "pending")) {
    await arm(tx, scoreJob(tx.scope, contact_id, tx.now));
  }
  for (const observation of observationRows) {
    const { version: _, ...row } = observation;
    tx.remove(observations, observation);
    tx.insert(observations, { ...row, contact_id });
  }
  return Math.max(
    ...[messageRows, conversationRows, scores, observationRows].map(({ length }) => length),
  );
}
