import { arm, type Claim, finish, isRearmed, prefetchJob } from "../queue/index.ts";
import {
  attemptById,
  type AttemptRow,
  attemptsOfMessage,
  messageById,
  outbox,
  attempts,
  type MessageRow,
} from "./rows.ts";
import {
  type AfterAttempt,
  answerLost,
  applyAnswer,
  applyNotSent,
  notBeforeOf,
  carrierError,
  ambiguousIfLost,
} from "./attempt-rules.ts";
import { type MessageState, noChange } from "./rules.ts";
import { stateOf, moveMessage, writeTimeline } from "./move.ts";
import type { Services } from "../operations/index.ts";
import type { SendAnswer, Seen } from "../ports/index.ts";
import { contactById } from "../contacts/index.ts";
import type { Tx } from "../store/index.ts";
import {
  applyEarlyReceipts,
  prefetchReceipts,
  providerIdFor,
  recordCarrierOptOut,
} from "./apply-receipt.ts";
import { firstFollowUpAt } from "./follow-up-times.ts";
import { findLostAttempts, findNext, type AttemptFailure, transportPatch } from "./choose-route.ts";
import { carrierColumns, isLeftBehind, isProved, type Reported } from "./deciding-attempt.ts";
import { sendJob, followUpJob, updateClass } from "./send-jobs.ts";
import type { Next } from "./route-rules.ts";

/**
 * Records the carrier's answer, even if it is late or the claim was lost: the call was made in any
 * case. If the outbox is empty, the same transaction finishes the job. Returns whether more
 * messages wait.
 */
export async function recordAnswer(
  tx: Tx,
  claim: Claim<"send">,
  handed: HandedOver,
  answer: SendAnswer,
  services: Services,
): Promise<boolean> {
  prefetchOutcome(tx, claim, handed, answer, services);
  const [message, attempt] = await Promise.all([
    tx.get(messageById, [handed.message.id], { hold: "recent" }),
    tx.get(attemptById, [handed.attempt.id], { hold: "recent" }),
  ]);
  // The account's sandbox may have been reset during the call.
  if (message === undefined || attempt === undefined) {
    await finish(tx, claim);
    return false;
  }

  const receipts = services.factsByTransport.get(attempt.transport)?.receipts;
  const accepted = receipts === "none" ? "delivered" : "sent";
  const outcome = await outcomeOf(tx, attempt, answer);
  const { decision, next } = await decide(tx, services, message, attempt, {
    answer,
    outcome,
    accepted,
  });
  const state: MessageState = decision.decision === "none" ? stateOf(message) : decision.state;
  const retryNext = decision.decision === "retry" ? next : undefined;
  const reported = { message, attempt };
  const settlement = { state, answer: outcome, next: retryNext };
  const recorded = await settleAttempt(tx, services, reported, settlement);
  const { message: updated } = recorded;
  const { message: settled } = await applyEarlyReceipts(tx, services, recorded);
  await recordCarrierOptOut(tx, services, { message: settled, attempt }, outcome.error);
  // If the claim was lost, its job may be gone, so the retry is scheduled here.
  if (updated.status === "queued") await arm(tx, sendJob(updated, updated.retry_at ?? tx.now));
  const waiting = await findWaiting(tx, claim, handed, settled);
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
  { isLast }: HandedOver,
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
  claim: Claim<"send">,
  { message, attempt: { id: attempt_id, transport }, isLast }: HandedOver,
  answer: SendAnswer,
  { factsByTransport }: Services,
): void {
  // The message itself is the first in the outbox. The command looks for the one behind it.
  if (!isLast) {
    tx.prefetch(() => [{ index: outbox, key: [claim.key.conversation_id], limit: 2 }]);
  }
  prefetchJob(tx, claim);
  if (answer.outcome !== "accepted") return;
  prefetchReceipts(tx, transport, answer.provider_message_id);
  if (factsByTransport.get(transport)?.receipts === "none") {
    tx.prefetch(() => [{ index: contactById, key: [message.contact_id] }]);
  } else prefetchJob(tx, { kind: "follow-up", key: { attempt_id } });
}

interface Answered {
  readonly answer: SendAnswer;
  /** The attempt's columns that store the answer. */
  readonly outcome: AttemptFailure;
  /** The status that acceptance proves. */
  readonly accepted: "sent" | "delivered";
}

interface Decided {
  readonly decision: AfterAttempt;
  /** Where to send the message if it is sent again. */
  readonly next: Next | undefined;
}

/** Decides what a carrier's answer means for the message. */
async function decide(
  tx: Tx,
  services: Services,
  message: MessageRow,
  attempt: AttemptRow,
  { answer, outcome, accepted }: Answered,
): Promise<Decided> {
  if (isLeftBehind(message, attempt)) return { decision: noChange, next: undefined };
  const state = stateOf(message);
  if (outcome.outcome === "rejected" && attempt.number < message.attempts) {
    return decideAfterNotSent(tx, services, message, { ...attempt, ...outcome });
  }
  const next =
    answer.outcome === "accepted"
      ? undefined
      : await findNext(tx, services, message, attempt, outcome);
  const decision = applyAnswer(state, attempt.number, answer, tx.now, accepted, next);
  return { decision: await checkLostAttempts(tx, message, decision, attempt), next };
}

/** Applies `ambiguousIfLost` with the attempts of the message, except `attempt`. */
async function checkLostAttempts(
  tx: Tx,
  message: MessageRow,
  decision: AfterAttempt,
  attempt?: AttemptRow,
): Promise<AfterAttempt> {
  if (decision.decision !== "failed" && decision.decision !== "expired") return decision;
  const last = (await findLostAttempts(tx, message, attempt)).at(-1);
  return ambiguousIfLost(decision, stateOf(message), last && (last.error ?? answerLost));
}

/**
 * Ends a queued message that is denied or has expired. It becomes `ambiguous` if an attempt may
 * have sent it.
 */
export async function endQueued(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  end: Extract<AfterAttempt, { decision: "failed" | "expired" }>,
): Promise<Seen<MessageRow>> {
  const decision = await checkLostAttempts(tx, message, end);
  const state = decision.decision === "none" ? end.state : decision.state;
  const updated = await moveMessage(tx, services.drawId, message, state);
  if (updated.status === "ambiguous") await followUpLostAttempts(tx, services, updated);
  return updated;
}

/**
 * Decides about an ambiguous message after it is certain that an attempt sent nothing. If the
 * carriers of later attempts refused the message, the last refusal decides. The message stays
 * ambiguous if yet another attempt may have sent it. `attempt` has its new outcome, which need not
 * be stored yet.
 */
export async function decideAfterNotSent(
  tx: Tx,
  services: Services,
  message: MessageRow,
  attempt: AttemptRow,
): Promise<Decided> {
  const state = stateOf(message);
  const findNextAfter = (last: AttemptRow, failure: AttemptFailure): Promise<Next | undefined> =>
    findNext(tx, services, message, last, failure, last.answered_at ?? tx.now, attempt);
  let next: Next | undefined;
  let decision: AfterAttempt;
  if (attempt.number === message.attempts) {
    // An attempt that was certainly not sent equals a temporary refusal.
    next = await findNextAfter(attempt, { outcome: "rejected", error: null, not_before: null });
    decision = applyNotSent(state, attempt.number, tx.now, next);
  } else {
    const last = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
    if (last?.outcome !== "rejected") return { decision: noChange, next: undefined };
    // The refusal was final, unless the route now has another transport to try.
    next = (await findNextAfter(last, last)) ?? { next: "nowhere" };
    decision = applyNotSent(state, last.number, tx.now, next, last.error);
  }
  return { decision: await checkLostAttempts(tx, message, decision, attempt), next };
}

/**
 * Schedules the look-ups of the attempts that may have sent the message, except the given one.
 * They had none while a later attempt was under way.
 */
async function followUpLostAttempts(
  tx: Tx,
  { factsByTransport }: Services,
  message: MessageRow,
  except?: AttemptRow,
): Promise<void> {
  for (const lost of await findLostAttempts(tx, message, except)) {
    const at = firstFollowUpAt(lost, message, factsByTransport, tx.now);
    if (at !== undefined) await arm(tx, followUpJob(lost, at));
  }
}

/** Returns the columns of an attempt that store an answer. */
async function outcomeOf(
  tx: Tx,
  attempt: AttemptRow,
  answer: SendAnswer,
): Promise<AttemptFailure & Pick<AttemptRow, "provider_message_id">> {
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

/** A message and its committed attempt, for which the carrier is called next. */
export interface HandedOver extends Reported {
  /** Whether no other message of the conversation waited at the hand-over. */
  readonly isLast: boolean;
}

/** What the answer to an attempt led to. */
interface Settlement {
  /** The message's new state. */
  readonly state: MessageState;
  /** The attempt's columns that store the answer. */
  readonly answer: Pick<AttemptRow, "outcome"> & Partial<AttemptRow>;
  /** Where to send the message next, if it is sent again. */
  readonly next: Next | undefined;
}

/**
 * Records the outcome of an attempt and the message's new state, with the transport of `next`.
 * Schedules the follow-up of the attempt: a look-up, or the end of the wait for receipts. Does
 * nothing if a look-up or a receipt has proved already that the carrier accepted the attempt: proof
 * outranks a lost or negative answer.
 */
export async function settleAttempt(
  tx: Tx,
  services: Services,
  reported: Reported,
  { state, answer, next }: Settlement,
): Promise<Reported> {
  const { message, attempt } = reported;
  if (isProved(attempt) && !isProved(answer)) return reported;
  const { drawId, factsByTransport } = services;
  const provider_message_id = answer.provider_message_id ?? attempt.provider_message_id;
  const isEvidence = provider_message_id !== null || answer.outcome === "accepted";
  const columns = isEvidence
    ? carrierColumns(message, { ...attempt, provider_message_id }, state.status)
    : {};
  const updated = await moveMessage(tx, drawId, message, state, {
    ...columns,
    ...transportPatch(message, next),
  });
  const led_to = updated.status === message.status ? null : updated.status;
  // An attempt counted as lost keeps its entry. The late answer gets a separate entry.
  const isLate = attempt.answered_at !== null;
  if (isLate && led_to !== null) writeTimeline(tx, drawId, message, updated, null);
  const nextAt = updated.status === "queued" ? updated.retry_at : null;
  const attemptAfter = tx.update(attempts, attempt, {
    ...answer,
    provider_message_id,
    ...(isLate
      ? {}
      : {
          answered_at: tx.now,
          answer_id: drawId("ent"),
          answer_version: updated.version,
          led_to,
        }),
    next_attempt_at: attempt.outcome === "undelivered" ? attempt.next_attempt_at : nextAt,
  });
  const followUpAt = firstFollowUpAt(attemptAfter, updated, factsByTransport, tx.now);
  if (followUpAt !== undefined) await arm(tx, followUpJob(attemptAfter, followUpAt));
  if (updated.status === "ambiguous") {
    await followUpLostAttempts(tx, services, updated, attemptAfter);
  }
  return { message: updated, attempt: attemptAfter };
}
