import type { Services } from "../../operations/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { firstFollowUpAt } from "../attempts/follow-up-times.ts";
import { followUpLostAttempts } from "../attempts/lost-attempts.ts";
import {
  carrierColumns,
  reachedCarrier,
  type MessageAndAttempt,
} from "../attempts/message-attempts.ts";
import { transportPatch } from "../attempts/next-attempt.ts";
import { followUpJob } from "../job-orders.ts";
import type { NextAttempt } from "../routes/route-rules.ts";
import { attempts, type AttemptRow } from "../rows.ts";
import type { MessageState } from "../rules.ts";
import { writeState, writeTimeline } from "../write-state.ts";

/** What the answer to an attempt led to. */
interface AttemptOutcome {
  /** The attempt's columns that store the answer. */
  readonly columns: Pick<AttemptRow, "outcome"> & Partial<AttemptRow>;
  /** The message's new state. */
  readonly state: MessageState;
  /** The next attempt. Undefined if the message stays with its transport. */
  readonly next: NextAttempt | undefined;
}

/**
 * Records the outcome of an attempt and the message's new state, with the transport of `next`.
 * Schedules the follow-up of the attempt: a look-up, or the end of the wait for receipts. Does
 * nothing if a look-up or a receipt has proved already that the carrier accepted the attempt: proof
 * outranks a lost or negative answer. A lost answer does not replace a refusal either. If its
 * commit is retried, a look-up may have found meanwhile that nothing was sent.
 */
export async function recordOutcome(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  { columns, state, next }: AttemptOutcome,
): Promise<MessageAndAttempt> {
  const { message, attempt } = pair;
  if (reachedCarrier(attempt) && !reachedCarrier(columns)) return pair;
  if (attempt.outcome === "rejected" && columns.outcome === "ambiguous") return pair;
  const { factsByTransport } = services;
  const provider_message_id = columns.provider_message_id ?? attempt.provider_message_id;
  const isEvidence = provider_message_id !== null || columns.outcome === "accepted";
  const carrier = isEvidence
    ? carrierColumns(message, { ...attempt, provider_message_id }, state.status)
    : {};
  const updated = await writeState(tx, message, state, {
    ...carrier,
    ...transportPatch(message, next),
  });
  const led_to = updated.status === message.status ? null : updated.status;
  // An attempt counted as lost keeps its entry. The late answer gets a separate entry.
  const isLate = attempt.answered_at !== null;
  if (isLate && led_to !== null) writeTimeline(tx, message, updated, null);
  const attemptAfter = tx.update(attempts, attempt, {
    ...columns,
    provider_message_id,
    ...(isLate
      ? {}
      : {
          answered_at: tx.now,
          answer_id: tx.drawId("ent"),
          answer_version: updated.version,
          led_to,
        }),
    next_attempt_at: attempt.outcome === "undelivered" ? attempt.next_attempt_at : updated.retry_at,
  });
  const followUpAt = firstFollowUpAt(attemptAfter, updated, factsByTransport, tx.now);
  if (followUpAt !== undefined) await arm(tx, followUpJob(attemptAfter, followUpAt));
  if (updated.status === "ambiguous") {
    await followUpLostAttempts(tx, services, updated, attemptAfter);
  }
  return { message: updated, attempt: attemptAfter };
}
