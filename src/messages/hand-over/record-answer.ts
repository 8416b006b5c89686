import { contactById } from "../../contacts/index.ts";
import type { Services } from "../../operations/index.ts";
import type { SendAnswer } from "../../ports/index.ts";
import { finish, isRearmed, prefetchJob, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { listAttempts, type MessageAndAttempt } from "../attempts/attempts.ts";
import {
  acceptedStatus,
  carrierError,
  isOptOut,
  notBeforeOf,
  provenColumns,
  type Reported,
} from "../attempts/carrier-reports.ts";
import { settleAnswer } from "../attempts/settle.ts";
import { updateClass } from "../job-orders.ts";
import {
  applyEarlyReceipts,
  prefetchReceipts,
  providerIdFor,
  recordCarrierOptOut,
} from "../receipts/apply-receipt.ts";
import { pauseEnd } from "../routes/route-rules.ts";
import { attemptById, messageById, outbox, type MessageRow } from "../rows.ts";
import type { BegunAttempt } from "./begin-attempt.ts";

/**
 * Records the carrier's answer, even if it is late or the claim was lost: the call was made in any
 * case. If the outbox is empty, the same transaction finishes the job. Returns whether more
 * messages wait.
 */
export async function recordAnswer(
  tx: Tx,
  services: Services,
  claim: Claim<"send">,
  begun: BegunAttempt,
  answer: SendAnswer,
): Promise<boolean> {
  prefetchForAnswer(tx, services, claim, begun, answer);
  const [message, attempt] = await Promise.all([
    tx.get(messageById, [begun.message.id], { hold: "recent" }),
    tx.get(attemptById, [begun.attempt.id], { hold: "recent" }),
  ]);
  // The account's sandbox may have been reset during the call.
  if (message === undefined || attempt === undefined) {
    await finish(tx, claim);
    return false;
  }

  const pair = { message, attempt };
  const reported = await answerColumns(tx, services, pair, answer);
  const settled = reported === undefined ? pair : await settleAnswer(tx, services, pair, reported);
  const { message: latest } = await applyEarlyReceipts(tx, services, settled);
  await recordCarrierOptOut(tx, services, { message: latest, attempt }, reported?.error ?? null);
  const waiting = await findWaiting(tx, claim, begun, latest);
  if (waiting === undefined) await finish(tx, claim);
  else await updateClass(tx, claim, waiting);
  return waiting !== undefined;
}

/**
 * Returns the first message that waits in the conversation. Whoever queues a message while the job
 * is leased arms the job. So if none waited at the hand-over and the job was not armed since, none
 * waits now.
 */
async function findWaiting(
  tx: Tx,
  claim: Claim<"send">,
  { isLast }: BegunAttempt,
  { status }: MessageRow,
): Promise<MessageRow | undefined> {
  const isInOutbox = status === "queued" || status === "sending";
  if (isLast && !isInOutbox && !(await isRearmed(tx, claim))) return undefined;
  const [waiting] = await tx.list(outbox, [claim.key.conversation_id], 1);
  return waiting;
}

/** Prefetches what `recordAnswer` reads, as far as the keys are known at its start. */
function prefetchForAnswer(
  tx: Tx,
  services: Services,
  claim: Claim<"send">,
  { message, attempt, isLast }: BegunAttempt,
  answer: SendAnswer,
): void {
  // The message itself is the first in the outbox. The command looks for the one behind it.
  if (!isLast) {
    tx.prefetch(() => [{ index: outbox, key: [claim.key.conversation_id], limit: 2 }]);
  }
  prefetchJob(tx, claim);
  if (answer.outcome !== "accepted") return;
  prefetchReceipts(tx, attempt.transport, answer.provider_message_id);
  if (acceptedStatus(services.factsByTransport, attempt) === "delivered") {
    tx.prefetch(() => [{ index: contactById, key: [message.contact_id] }]);
  } else prefetchJob(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
}

/**
 * Returns the columns of an attempt that store an answer. Undefined if the answer changes nothing:
 * - The carrier is proved to have had the message. Only an opt-out still counts then.
 * - The answer is lost, and the attempt is rejected: while the commit was retried, a look-up has
 *   found that nothing was sent.
 * - The same refusal is stored already.
 */
async function answerColumns(
  tx: Tx,
  { factsByTransport }: Services,
  { message, attempt }: MessageAndAttempt,
  answer: SendAnswer,
): Promise<Reported | undefined> {
  const { outcome } = answer;
  if (outcome === "accepted") {
    const status = acceptedStatus(factsByTransport, attempt);
    const columns = provenColumns(attempt, { status, at: tx.now, error: null });
    return {
      ...columns,
      // Keep the reason if a receipt has said already that the carrier did not deliver the message.
      // Keep an opt-out too, because it marks that the opt-out is recorded.
      error: columns.outcome === "undelivered" || isOptOut(attempt.error) ? attempt.error : null,
      provider_message_id:
        (await providerIdFor(tx, attempt, answer.provider_message_id)) ??
        attempt.provider_message_id,
    };
  }
  const permanent = outcome === "rejected" && answer.permanent;
  const error = carrierError(answer.error, permanent);
  if (attempt.evidence !== null) return isOptOut(error) ? { error } : undefined;
  if (outcome === "ambiguous") {
    return attempt.outcome === "rejected" ? undefined : { outcome, error };
  }
  // The commit may have succeeded unnoticed and be retried. The pause must not begin again then.
  if (attempt.outcome === outcome && attempt.error?.code === error.code) return undefined;
  const not_before = notBeforeOf(answer.retry_after_ms, tx.now);
  if (attempt.answered_at === null || permanent) return { outcome, error, not_before };
  // The pause before the next attempt begins with the refusal, and not when the answer was lost.
  const made = await listAttempts(tx, message);
  const tries = made.filter(
    (each) => each.transport === attempt.transport && each.number <= attempt.number,
  );
  return { outcome, error, not_before: not_before ?? pauseEnd(tries.length, tx.now) };
}
