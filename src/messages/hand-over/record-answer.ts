import { contactById } from "../../contacts/index.ts";
import type { Services } from "../../operations/index.ts";
import type { SendAnswer } from "../../ports/index.ts";
import { arm, finish, isRearmed, prefetchJob, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { carrierError, notBeforeOf } from "../attempts/attempt-rules.ts";
import {
  acceptedStatus,
  decideAfterAnswer,
  type AnswerColumns,
} from "../attempts/decide-after-attempt.ts";
import { sendJob, updateClass } from "../job-orders.ts";
import {
  applyEarlyReceipts,
  prefetchReceipts,
  providerIdFor,
  recordCarrierOptOut,
} from "../receipts/apply-receipt.ts";
import { attemptById, messageById, outbox, type AttemptRow, type MessageRow } from "../rows.ts";
import { stateOf } from "../stored-state.ts";
import type { BegunAttempt } from "./begin-attempt.ts";
import { recordOutcome } from "./record-outcome.ts";

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
  prefetchOutcome(tx, services, claim, begun, answer);
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
  const columns = await answerColumns(tx, attempt, answer);
  const decided = await decideAfterAnswer(tx, services, pair, { answer, columns });
  const { state = stateOf(message), next } = decided ?? {};
  const recorded = await recordOutcome(tx, services, pair, { columns, state, next });
  const { message: latest } = await applyEarlyReceipts(tx, services, recorded);
  await recordCarrierOptOut(tx, services, { message: latest, attempt }, columns.error);
  const { message: answered } = recorded;
  // If the claim was lost, its job may be gone, so the retry is scheduled here.
  if (answered.status === "queued") await arm(tx, sendJob(answered, answered.retry_at ?? tx.now));
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
function prefetchOutcome(
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
  if (acceptedStatus(services, attempt) === "delivered") {
    tx.prefetch(() => [{ index: contactById, key: [message.contact_id] }]);
  } else prefetchJob(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
}

/** Returns the columns of an attempt that store an answer. */
async function answerColumns(
  tx: Tx,
  attempt: AttemptRow,
  answer: SendAnswer,
): Promise<AnswerColumns & Pick<AttemptRow, "provider_message_id">> {
  const { outcome } = answer;
  const noId = { not_before: null, provider_message_id: null };
  if (outcome === "ambiguous") {
    return { ...noId, outcome, error: carrierError(answer.error, false) };
  }
  if (outcome === "rejected") {
    const error = carrierError(answer.error, answer.permanent);
    // A commit can be retried after it succeeded unnoticed. The delay must not grow then.
    const not_before = attempt.not_before ?? notBeforeOf(answer.retry_after_ms, tx.now);
    return { ...noId, outcome, error, not_before };
  }
  // A receipt may have said already that the carrier did not deliver the message, and why.
  const isUndelivered = attempt.outcome === "undelivered";
  return {
    ...noId,
    outcome: isUndelivered ? "undelivered" : outcome,
    error: isUndelivered ? attempt.error : null,
    provider_message_id: await providerIdFor(tx, attempt, answer.provider_message_id),
  };
}
