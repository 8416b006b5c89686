/**
 * What the result of an attempt means for its message: an answer of the carrier, a lost answer, a
 * look-up or a receipt. The functions are pure.
 */
import { storable } from "../../kernel/index.ts";
import {
  carrierErrorCodes,
  permanentErrorCodes,
  type CarrierError,
  type Receipt,
  type RejectedAnswer,
  type SendAnswer,
} from "../../ports/index.ts";
import type { Evidence } from "../carrier-state.ts";
import { maxAttempts, retryDelays, type NextAttempt } from "../routes/route-rules.ts";
import {
  applyEvidence,
  expiredDecision,
  isWaiting,
  noChange,
  type Ambiguous,
  type Failed,
  type MessageState,
  type NoChange,
  type Queued,
  type Sending,
  type WithCarrier,
} from "../rules.ts";
import type { MessageError } from "../types.ts";

type Retry = { readonly decision: "retry"; readonly state: Queued };
export type Lost = { readonly decision: "ambiguous"; readonly state: Ambiguous };
/** The decision that a message ends without having been sent. */
export type Ending =
  { readonly decision: "failed"; readonly state: Failed } | typeof expiredDecision;
export type AfterAttempt = WithCarrier | Retry | Ending | Lost | NoChange;

interface Answered {
  /** The number of the attempt. */
  readonly number: number;
  readonly answer: SendAnswer;
  /** The status that acceptance proves. Default: `sent`. */
  readonly accepted?: "sent" | "delivered";
  /** The next attempt if this one failed. By default the message stays with its transport. */
  readonly next?: NextAttempt | undefined;
}

/**
 * Applies the carrier's answer to an attempt, however late it arrives. Acceptance counts in any
 * state. Any other answer counts only while the attempt is the last and still open.
 */
export function applyAnswer(
  state: MessageState,
  { number, answer, accepted = "sent", next }: Answered,
  now: number,
): AfterAttempt {
  if (answer.outcome === "accepted") {
    return applyEvidence(state, { status: accepted, at: now, error: null });
  }
  if (!isOpen(state, number)) return noChange;
  if (answer.outcome === "rejected") return refused(state, answer, now, next);
  if (state.status !== "sending") return noChange;
  return next === undefined || next === "none"
    ? lost(state, carrierError(answer.error, false))
    : sendAgain(state, next.at);
}

/**
 * Makes a message `ambiguous` after the engine that made attempt number `attempt` stopped without
 * an answer: its lease expired.
 */
export function applyLostAnswer(state: MessageState, attempt: number): Lost | NoChange {
  return state.status === "sending" && state.attempts === attempt
    ? lost(state, answerLost)
    : noChange;
}

/**
 * Queues a message again as it was before attempt number `attempt` began, because no carrier was
 * called with it. An attempt that was never made does not count.
 */
export function takeBackAttempt(
  state: MessageState,
  attempt: number,
  now: number,
): Retry | NoChange {
  return state.status === "sending" && state.attempts === attempt
    ? sendAgain({ ...state, attempts: attempt - 1 }, now)
    : noChange;
}

/** The error of an attempt whose answer is lost. */
export const answerLost: MessageError = {
  code: "answer_lost",
  message: "The carrier's answer was lost; the message may have been sent.",
  permanent: false,
  stage: "carrier",
  provider_code: null,
};

interface LateRefusal {
  readonly answer: RejectedAnswer;
  /** Whether it is the answer to the message's last attempt. */
  readonly isLast: boolean;
  /** The next attempt now. By default the message stays with its transport. */
  readonly next?: NextAttempt | undefined;
}

/**
 * Plans the next attempt of a waiting message anew after a carrier refused it late: the message
 * waits because the answer had counted as lost. If it cannot be sent again, it fails.
 */
export function applyLateRefusal(
  state: MessageState,
  { answer, isLast, next }: LateRefusal,
  now: number,
): AfterAttempt {
  if (!isWaiting(state)) return noChange;
  const { error, permanent } = answer;
  // Only the answer to the last attempt sets the delay before the next one.
  if (next === undefined && !permanent && !isLast) return noChange;
  const due_at = timeAfter(answer, state.attempts, next, now);
  // A deferred message waits at least until the end of its deferral.
  const waitsUntil = state.status === "scheduled" ? state.send_at : 0;
  const at = due_at === null ? null : Math.max(due_at, waitsUntil);
  return retryOrEnd(state, at, carrierError(error, permanent));
}

interface NotSent extends Pick<Answered, "number" | "next"> {
  /** The error of a later attempt. By default the message keeps the error that it has. */
  readonly refusal?: MessageError | null | undefined;
}

/**
 * Queues a message again as soon as possible after a look-up proved that the carrier never received
 * the attempt. If the message cannot be sent again, it fails.
 */
export function applyNotSent(
  state: MessageState,
  { number, next, refusal }: NotSent,
  now: number,
): AfterAttempt {
  if (state.status !== "ambiguous" || state.attempts !== number) return noChange;
  const error = refusal ?? state.error;
  const again = state.attempts < maxAttempts ? now : null;
  return retryOrEnd(state, next === undefined ? again : nextAt(next), error);
}

/**
 * Makes a message `ambiguous` that would fail or expire although another attempt may have sent it.
 * `error` is the error of that attempt.
 */
export function ambiguousInstead(
  ending: Ending,
  state: MessageState,
  error: MessageError,
): Ending | Lost {
  const isUnderway = isWaiting(state) || state.status === "sending" || state.status === "ambiguous";
  return isUnderway ? lost(state, error) : ending;
}

/** Returns the evidence that a receipt gives. */
export function evidenceOf({ status, at, error }: Receipt): Evidence {
  if (status !== "undelivered") return { status, at, error: null };
  const reason = error ?? { code: "unknown", message: "The carrier gave no reason." };
  return { status, at, error: carrierError(reason, permanentErrorCodes.has(reason.code)) };
}

/** Replaces a receipt time that no date can represent with the current time. */
export function withValidTime(receipt: Receipt, now: number): Receipt {
  const { at } = receipt;
  return { ...receipt, at: at >= 0 && at <= lastTime ? Math.round(at) : now };
}

/** The end of the year 9999. */
const lastTime = 253_402_300_799_999;

/**
 * Returns when to retry after attempt number `attempt` certainly sent nothing. Null if that was the
 * last attempt. `retryAfter` from the carrier overrides the delay.
 */
export function retryAt(
  attempt: number,
  retryAfter: number | null | undefined,
  now: number,
): number | null {
  const delay = retryDelays[attempt - 1];
  return delay === undefined ? null : (notBeforeOf(retryAfter, now) ?? now + delay);
}

/**
 * Returns the earliest time at which the carrier wants to be called. Null if it set none: a delay
 * that is negative or infinite is none.
 */
export function notBeforeOf(retryAfter: number | null | undefined, now: number): number | null {
  const isDelay = typeof retryAfter === "number" && retryAfter >= 0 && retryAfter < Infinity;
  return isDelay ? Math.min(now + Math.ceil(retryAfter), lastTime) : null;
}

/**
 * The maximum lengths of a carrier's texts. The message, its attempt, its timeline and its events
 * repeat them, and a carrier may answer with a whole page.
 */
const [maxErrorMessage, maxProviderCode] = [1_000, 200];

/** Returns the error of a message. A code that the engine does not know becomes `unknown`. */
export function carrierError(error: CarrierError, permanent: boolean): MessageError {
  const { code, message, provider_code } = error;
  const known = carrierErrorCodes.includes(code);
  const ownCode = provider_code ?? (known ? null : code);
  return {
    code: known ? code : "unknown",
    message: storable(message, maxErrorMessage),
    permanent,
    stage: code === "unreachable" ? "handset" : "carrier",
    provider_code: ownCode === null ? null : storable(ownCode, maxProviderCode),
  };
}

function refused(
  state: Sending | Ambiguous,
  answer: RejectedAnswer,
  now: number,
  next: NextAttempt | undefined,
): AfterAttempt {
  const { error, permanent } = answer;
  const due_at = timeAfter(answer, state.attempts, next, now);
  return retryOrEnd(state, due_at, carrierError(error, permanent));
}

/** Returns when to try again after a refusal of attempt number `attempt`. Null if never. */
function timeAfter(
  { permanent, retry_after_ms }: RejectedAnswer,
  attempt: number,
  next: NextAttempt | undefined,
  now: number,
): number | null {
  const again = permanent ? null : retryAt(attempt, retry_after_ms, now);
  return next === undefined ? again : nextAt(next);
}

function nextAt(next: NextAttempt): number | null {
  return next === "none" ? null : next.at;
}

/**
 * Queues a message again for `due_at`. Without another attempt it fails with the error of the last
 * one. It expires now if the next attempt would be too late, so that it does not block the later
 * messages of its conversation.
 */
function retryOrEnd(
  state: Pick<Sending, "attempts" | "expires_at">,
  due_at: number | null,
  error: MessageError,
): AfterAttempt {
  if (due_at === null) return { decision: "failed", state: { status: "failed", error } };
  return due_at < state.expires_at ? sendAgain(state, due_at) : expiredDecision;
}

/**
 * Queues a message again after its last attempt. Only call it if that attempt certainly sent
 * nothing or a duplicate is acceptable.
 */
export function sendAgain(
  { attempts, expires_at }: Pick<Sending, "attempts" | "expires_at">,
  due_at: number,
): Retry {
  return { decision: "retry", state: { status: "queued", due_at, expires_at, attempts } };
}

function lost(
  { attempts, expires_at }: Pick<Sending, "attempts" | "expires_at">,
  error: MessageError,
): Lost {
  return { decision: "ambiguous", state: { status: "ambiguous", expires_at, attempts, error } };
}

function isOpen(state: MessageState, attempt: number): state is Sending | Ambiguous {
  return (state.status === "sending" || state.status === "ambiguous") && state.attempts === attempt;
}
