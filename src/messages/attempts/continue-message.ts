/**
 * How a message goes on after its carrier has given up the attempt that its status depends on:
 * another attempt decides the status, or the next attempt is planned.
 */
import type { Services } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm, disarm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { join } from "../carrier-state.ts";
import { armFollowUps, sendJob } from "../job-orders.ts";
import type { PlannedAttempt } from "../routes/route-rules.ts";
import { attempts, type AttemptRow, type MessageRow } from "../rows.ts";
import { endOf, type MessageState } from "../rules.ts";
import { writeState } from "../write-state.ts";
import { answerLost, retryAt, sendAgain } from "./attempt-rules.ts";
import {
  isAccepted,
  isPending,
  listAttempts,
  mayDeliver,
  type MessageAndAttempt,
  type OpenAttempt,
} from "./message-attempts.ts";
import { findNextAttempt } from "./next-attempt.ts";

/**
 * Continues a message without `attempt`, whose outcome is stored as `undelivered`. Returns
 * undefined if the message cannot go on, or had ended before.
 */
export async function continueMessage(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
): Promise<MessageAndAttempt | undefined> {
  const { message, attempt } = pair;
  // The host application may have sent the message anew, or it was canceled.
  if (endOf(message.status, message.ended_as) !== null) return undefined;
  const others = await listAttempts(tx, message, attempt);
  const continuation = await findContinuation(tx, services, pair, others);
  if (continuation === undefined) return undefined;
  await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  if (continuation.by === "retry") return queueAgain(tx, pair, continuation);
  const updated = await decideBy(tx, message, continuation.attempt);
  // The other attempts had no follow-ups while the status depended on another one.
  await armFollowUps(tx, services, updated, others);
  return { message: updated, attempt };
}

type Continuation =
  /** This attempt decides the status. */
  | { readonly by: "attempt"; readonly attempt: OpenAttempt }
  /** The next attempt follows the failed one. */
  | { readonly by: "retry"; readonly failed: Seen<AttemptRow>; readonly next: PlannedAttempt };

/**
 * Decides as if `attempt` had been given up before the later attempts began: one that was accepted
 * or is under way comes first, then a next attempt, then one whose answer is lost.
 */
async function findContinuation(
  tx: Tx,
  services: Services,
  { message, attempt }: MessageAndAttempt,
  others: readonly Seen<AttemptRow>[],
): Promise<Continuation | undefined> {
  const later = others.filter(({ number }) => number > attempt.number);
  const last = later.at(-1) ?? attempt;
  const sent = later.findLast(isAccepted);
  if (sent !== undefined) return { by: "attempt", attempt: sent };
  if (isPending(last)) return { by: "attempt", attempt: last };
  const next = await nextAfterFailure(tx, services, message, last);
  if (next === undefined) {
    const lost = later.findLast(mayDeliver);
    return lost && { by: "attempt", attempt: lost };
  }
  // A message that an earlier attempt has sent is not sent again.
  const sentBefore = others.findLast(isAccepted);
  return sentBefore === undefined
    ? { by: "retry", failed: last, next }
    : { by: "attempt", attempt: sentBefore };
}

/** Returns the attempt after a failed one, if it can begin within the message's time to live. */
async function nextAfterFailure(
  tx: Tx,
  services: Services,
  message: MessageRow,
  failed: AttemptRow,
): Promise<PlannedAttempt | undefined> {
  const { body, expires_at } = message;
  if (body === null || expires_at === null) return undefined;
  const next =
    (await findNextAttempt(tx, services, message, failed)) ??
    retryOver(failed, failed.answered_at ?? tx.now, tx.now);
  return next !== undefined && next !== "none" && next.at < expires_at ? next : undefined;
}

/** Returns the next attempt over the same transport after a refusal. */
function retryOver(
  { number, transport, outcome, error, not_before }: AttemptRow,
  at: number,
  now: number,
): PlannedAttempt | undefined {
  if (outcome !== "rejected" || error?.permanent === true) return undefined;
  const due = not_before ?? retryAt(number, undefined, at);
  return due === null ? undefined : { transport, at: Math.max(due, now) };
}

/** The columns that clear the evidence of the attempt that the message no longer depends on. */
const noCarrierState = {
  carrier_state: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
} as const;

/** Queues the message for its next attempt. */
async function queueAgain(
  tx: Tx,
  { message, attempt }: MessageAndAttempt,
  { failed, next: { transport, at } }: Extract<Continuation, { by: "retry" }>,
): Promise<MessageAndAttempt> {
  const { attempts: count, expires_at } = message;
  const { state } = sendAgain({ attempts: count, expires_at: expires_at ?? Infinity }, at);
  const columns = { ...noCarrierState, transport, provider_message_id: null, basis: null };
  const updated = await writeState(tx, message, state, columns);
  await arm(tx, sendJob(updated, at));
  const planned = tx.update(attempts, failed, { next_attempt_at: at });
  return { message: updated, attempt: planned.id === attempt.id ? planned : attempt };
}

/** Lets an attempt decide the status of the message. */
async function decideBy(
  tx: Tx,
  message: Seen<MessageRow>,
  attempt: OpenAttempt,
): Promise<Seen<MessageRow>> {
  const { number: basis, transport, provider_message_id } = attempt;
  const columns = { ...noCarrierState, transport, provider_message_id, basis };
  const state = stateAfter(message, attempt);
  const updated = await writeState(tx, message, state, columns);
  // The engine that made the call may have stopped. The job then records the lost answer.
  if (state.status === "sending") await arm(tx, sendJob(updated, tx.now));
  return updated;
}

/** Returns the state that an attempt gives its message. */
function stateAfter(
  { attempts: count, expires_at: ends_at }: MessageRow,
  { outcome, error, started_at, answered_at }: OpenAttempt,
): MessageState {
  const expires_at = ends_at ?? Infinity;
  switch (outcome) {
    case "accepted":
      return join(null, { status: "sent", at: answered_at ?? started_at, error: null }).state;
    case "pending":
      return { status: "sending", expires_at, attempts: count };
    case "ambiguous":
      return { status: "ambiguous", expires_at, attempts: count, error: error ?? answerLost };
  }
}
