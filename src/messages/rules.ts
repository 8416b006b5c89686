/**
 * The life of an outbound message. Before its hand-over it is `scheduled → queued → sending`, and each decision here
 * moves it. An attempt that surely left nothing takes it back to `queued`; one whose answer is lost makes it
 * `ambiguous`, and only a look-up or the host takes it back from there. It ends `canceled`, `expired` or `failed`.
 *
 * Proof that the carrier has it outranks all of these: from then on its state is its `Carriage`, and nothing here sends
 * it again, but for a receipt after which the host wants it tried over another transport. Cancel and send exclude each other since one needs
 * `queued` and the other leaves it.
 */
import { type Channel, type FieldError, maxScheduleAhead } from "../kernel/index.ts";
import {
  type CarrierError,
  permanentReasons,
  type Receipt,
  type SendAnswer,
} from "../ports/index.ts";
import type { EventType } from "../events/index.ts";
import type { Next } from "./route-types.ts";
import { type Carriage, type Evidence, join, type Joined } from "./carriage.ts";
import { defaultTtl, type MessageError, type MessageStatus } from "./types.ts";

/** All times are in milliseconds since the epoch. `attempts` counts the hand-overs, the one under way included. */
export type Scheduled = {
  readonly status: "scheduled";
  readonly send_at: number;
  readonly expires_at: number;
  readonly attempts: number;
};
export type Queued = {
  readonly status: "queued";
  readonly due_at: number;
  readonly expires_at: number;
  readonly attempts: number;
};
export type Sending = {
  readonly status: "sending";
  readonly expires_at: number;
  readonly attempts: number;
};
export type Ambiguous = {
  readonly status: "ambiguous";
  readonly expires_at: number;
  readonly attempts: number;
  readonly error: MessageError;
};
export type Canceled = { readonly status: "canceled" };
export type Expired = { readonly status: "expired"; readonly error: MessageError };
export type Failed = { readonly status: "failed"; readonly error: MessageError };

export type Before = Scheduled | Queued | Sending | Ambiguous | Canceled | Expired | Failed;
export type MessageState = Before | Carriage;

/** Nothing follows from it in this state. */
export type Nothing = { readonly decision: "none" };
export const nothing: Nothing = { decision: "none" };

export function isCarried(state: MessageState): state is Carriage {
  return "sent_at" in state;
}

export type Plan =
  | { readonly decision: "planned"; readonly state: Scheduled | Queued }
  | { readonly decision: "invalid"; readonly error: FieldError };

/** A new message's first state. The ttl counts from `send_at`, or from now. */
export function plan(request: { send_at?: number | null; ttl?: number }, now: number): Plan {
  const { send_at = null, ttl = defaultTtl } = request;
  if (send_at === null || send_at <= now) {
    return {
      decision: "planned",
      state: { status: "queued", due_at: now, expires_at: now + ttl, attempts: 0 },
    };
  }
  if (send_at > now + maxScheduleAhead) return { decision: "invalid", error: tooFarAhead };
  return {
    decision: "planned",
    state: { status: "scheduled", send_at, expires_at: send_at + ttl, attempts: 0 },
  };
}

const tooFarAhead: FieldError = {
  pointer: "/send_at",
  code: "too_far_ahead",
  message: "send_at must be at most 35 days ahead",
};

export type Edit =
  | { readonly decision: "edited"; readonly state: Scheduled }
  | { readonly decision: "invalid"; readonly error: FieldError }
  | { readonly decision: "refused"; readonly status: MessageStatus };

/** Only what is scheduled can be edited. The ttl moves with `send_at`; one that has passed is due at once. */
export function edit(state: MessageState, change: { send_at?: number }, now: number): Edit {
  if (state.status !== "scheduled") return { decision: "refused", status: state.status };
  if (change.send_at === undefined) return { decision: "edited", state };
  if (change.send_at > now + maxScheduleAhead) return { decision: "invalid", error: tooFarAhead };
  const send_at = Math.max(change.send_at, now);
  const ttl = state.expires_at - state.send_at;
  return { decision: "edited", state: { ...state, send_at, expires_at: send_at + ttl } };
}

export type Cancel =
  | { readonly decision: "canceled"; readonly state: Canceled }
  | { readonly decision: "refused"; readonly status: MessageStatus };

export function cancel(state: MessageState): Cancel {
  if (!isWaiting(state)) return { decision: "refused", status: state.status };
  return { decision: "canceled", state: { status: "canceled" } };
}

/** When a scheduled message's time has come. */
export function release(
  state: MessageState,
  now: number,
): { decision: "released"; state: Queued } | Nothing {
  if (state.status !== "scheduled" || state.send_at > now) return nothing;
  const { expires_at, attempts } = state;
  return { decision: "released", state: { status: "queued", due_at: now, expires_at, attempts } };
}

/** When a message's ttl is over before anybody took it. */
export function expire(
  state: MessageState,
  now: number,
): { decision: "expired"; state: Expired } | Nothing {
  if (!isWaiting(state) || state.expires_at > now) return nothing;
  return { decision: "expired", state: { status: "expired", error: ttlElapsed } };
}

const ttlElapsed: MessageError = {
  code: "ttl_elapsed",
  message: "The message was not handed over within its time to live.",
  permanent: false,
  stage: "queue",
  provider_code: null,
};

export type HandOver =
  | { readonly decision: "send"; readonly state: Sending }
  | { readonly decision: "wait"; readonly until: number }
  | { readonly decision: "expired"; readonly state: Expired }
  | Nothing;

/** May this message be given to the carrier now? `send` is committed before the carrier is called. */
export function handOver(state: MessageState, now: number): HandOver {
  if (state.status !== "queued") return nothing;
  const { due_at, expires_at, attempts } = state;
  if (expires_at <= now) {
    return { decision: "expired", state: { status: "expired", error: ttlElapsed } };
  }
  if (due_at > now) return { decision: "wait", until: Math.min(due_at, expires_at) };
  return { decision: "send", state: { status: "sending", expires_at, attempts: attempts + 1 } };
}

/** In milliseconds: nobody puts a message off for less, so that it is not judged again and again in one breath. */
const shortestDeferral = 1_000;

/** From a message's creation, in milliseconds: as far ahead as it can be scheduled, and as long again. */
const longestWait = 2 * maxScheduleAhead;

/**
 * What is queued waits until a policy lets it out. That is not its own time: its ttl moves along. Not for ever, though: a rule may put it
 * off again and again.
 */
export function deferred(
  state: MessageState,
  until: number,
  created_at: number,
  now: number,
): Scheduled {
  if (state.status !== "queued") {
    throw new TypeError(`a message that is ${state.status} can't be put off`);
  }
  const { attempts } = state;
  const send_at = Math.max(until, now + shortestDeferral);
  const expires_at = Math.min(state.expires_at + (send_at - now), created_at + longestWait);
  return {
    status: "scheduled",
    send_at,
    expires_at: Math.max(state.expires_at, expires_at),
    attempts,
  };
}

/** Why a message fails that a policy denies. Codes of the host's rules are theirs: the message shows them beside its own. */
export function denial(code: string, message: string): MessageError {
  const known = code === "recipient_opted_out";
  return {
    code: known ? code : "policy_denied",
    message,
    permanent: true,
    stage: "policy",
    provider_code: known ? null : code,
  };
}

export type AfterAttempt =
  | { readonly decision: "carried"; readonly state: Carriage; readonly joined: Joined }
  | { readonly decision: "retry"; readonly state: Queued }
  | { readonly decision: "failed"; readonly state: Failed }
  | { readonly decision: "ambiguous"; readonly state: Ambiguous }
  | Nothing;

/**
 * The carrier's answer to hand-over number `attempt`, however late it comes. That the carrier has the message counts in
 * any state. The rest counts only while this attempt is the message's last and open: an older one says nothing new.
 * `accepted` is what acceptance proves: `delivered` where a transport has no receipts. `next` is where the message goes on if this attempt
 * has not brought it out; by default it stays with the transport that it has.
 */
export function answered(
  state: MessageState,
  attempt: number,
  answer: SendAnswer,
  now: number,
  accepted: "sent" | "delivered" = "sent",
  next?: Next,
): AfterAttempt {
  if (answer.outcome === "accepted") {
    return carried(state, { status: accepted, at: now, error: null });
  }
  if (!isOpen(state, attempt)) return nothing;
  if (answer.outcome === "rejected") return refused(state, answer, now, next);
  if (state.status !== "sending") return nothing;
  return next?.next === "on"
    ? goneOn(state, next.at)
    : lost(state, carrierError(answer.error, false));
}

/** Whoever sent it is gone and left no answer: its lease lapsed. */
export function lapsed(
  state: MessageState,
  attempt: number,
): { decision: "ambiguous"; state: Ambiguous } | Nothing {
  return state.status === "sending" && state.attempts === attempt
    ? lost(state, answerLost)
    : nothing;
}

const answerLost: MessageError = {
  code: "answer_lost",
  message: "The carrier's answer was lost; the message may have been sent.",
  permanent: false,
  stage: "carrier",
  provider_code: null,
};

/**
 * Again as soon as may be, as the carrier surely never had the message of this attempt and never will, or the host takes the risk. `next`: as
 * for `answered`.
 */
export function notSent(
  state: MessageState,
  attempt: number,
  now: number,
  next?: Next,
): AfterAttempt {
  if (state.status !== "ambiguous" || state.attempts !== attempt) return nothing;
  const { attempts, error, expires_at } = state;
  const again = attempts < maxAttempts ? now : null;
  const due_at = next === undefined ? again : nextAt(next, expires_at);
  return due_at === null
    ? { decision: "failed", state: { status: "failed", error } }
    : goneOn(state, due_at);
}

/** What a receipt, or a look-up that found the message, proves. */
export function evidenceOf({ status, at, error }: Receipt): Evidence {
  if (status !== "undelivered") return { status, at, error: null };
  const reason = error ?? { code: "unknown", message: "The carrier gave no reason." };
  return { status, at, error: carrierError(reason, permanentReasons.has(reason.code)) };
}

/** A receipt with a time that is one: what a carrier says that no date can show says nothing, and it is now. */
export function sound(receipt: Receipt, now: number): Receipt {
  const { at } = receipt;
  return { ...receipt, at: at >= 0 && at <= lastTime ? Math.round(at) : now };
}

/** The end of the year 9999. */
const lastTime = 253_402_300_799_999;

/** Evidence counts in every state, the ends before the hand-over included. */
export function carried(
  state: MessageState,
  evidence: Evidence,
): { decision: "carried"; state: Carriage; joined: Joined } {
  const joined = join(isCarried(state) ? state : null, evidence);
  return { decision: "carried", state: joined.carriage, joined };
}

/**
 * Whether evidence of an attempt says nothing of its message any more. That goes out by a later attempt: only that this one arrived counts,
 * and, where nobody knew whether it had been sent, that it was.
 */
export function isSuperseded(
  { status }: Evidence,
  attempt: { isLast: boolean; isGivenUp: boolean },
): boolean {
  if (status === "delivered" || status === "read") return false;
  return attempt.isGivenUp || (status === "undelivered" && !attempt.isLast);
}

/** No receipt came in time. */
export function unconfirmed(
  state: MessageState,
  now: number,
): { decision: "carried"; state: Carriage; joined: Joined } | Nothing {
  return state.status === "sent"
    ? carried(state, { status: "unconfirmed", at: now, error: null })
    : nothing;
}

/** In milliseconds: how long to wait after each failed attempt. The sixth is the last. */
export const retryDelays = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
export const maxAttempts = retryDelays.length + 1;

/** When to try again after `attempt` of a transport surely sent nothing, or null when that was the last. The carrier's wish wins. */
export function retryAt(
  attempt: number,
  retryAfter: number | undefined,
  expiresAt: number,
  now: number,
): number | null {
  const delay = retryDelays[attempt - 1];
  if (delay === undefined) return null;
  const due = askedFor(retryAfter, now) ?? now + delay;
  return due < expiresAt ? due : null;
}

/** The time that a carrier asks not to be called before; null: it asks for none. */
export function askedFor(retryAfter: number | undefined, now: number): number | null {
  if (retryAfter === undefined || Number.isNaN(retryAfter)) return null;
  return Math.min(now + Math.ceil(Math.max(0, retryAfter)), lastTime);
}

/** Which events a change of status tells of. */
export function announced(from: MessageStatus | null, to: MessageStatus): EventType[] {
  if (from === to) return [];
  if (isArrived(to) && (from === null || !isArrived(from))) {
    return ["message.updated", "message.sent"];
  }
  if (to === "failed" || to === "undelivered" || to === "expired") {
    return ["message.updated", "message.failed"];
  }
  return ["message.updated"];
}

const isArrived = (status: MessageStatus): boolean => status === "delivered" || status === "read";

export function carrierError(error: CarrierError, permanent: boolean): MessageError {
  const { code, message, provider_code = null } = error;
  return {
    code,
    message,
    permanent,
    stage: code === "unreachable" ? "handset" : "carrier",
    provider_code,
  };
}

function refused(
  { attempts, expires_at }: Sending | Ambiguous,
  answer: Refusal,
  now: number,
  next: Next | undefined,
): AfterAttempt {
  const due_at =
    next === undefined ? sameAgain(attempts, answer, expires_at, now) : nextAt(next, expires_at);
  if (due_at !== null) {
    return { decision: "retry", state: { status: "queued", due_at, expires_at, attempts } };
  }
  return {
    decision: "failed",
    state: { status: "failed", error: carrierError(answer.error, answer.permanent) },
  };
}

type Refusal = Extract<SendAnswer, { outcome: "rejected" }>;

function sameAgain(
  attempts: number,
  answer: Refusal,
  expires_at: number,
  now: number,
): number | null {
  return answer.permanent ? null : retryAt(attempts, answer.retry_after_ms, expires_at, now);
}

function nextAt(next: Next, expires_at: number): number | null {
  return next.next === "on" && next.at < expires_at ? next.at : null;
}

/** The host takes the risk, or there is none: it goes out again, whatever became of its last attempt. */
export function goneOn(
  { attempts, expires_at }: Pick<Sending, "attempts" | "expires_at">,
  due_at: number,
): { readonly decision: "retry"; readonly state: Queued } {
  return { decision: "retry", state: { status: "queued", due_at, expires_at, attempts } };
}

function lost(
  { attempts, expires_at }: Sending,
  error: MessageError,
): { decision: "ambiguous"; state: Ambiguous } {
  return { decision: "ambiguous", state: { status: "ambiguous", expires_at, attempts, error } };
}

function isWaiting(state: MessageState): state is Scheduled | Queued {
  return state.status === "scheduled" || state.status === "queued";
}

function isOpen(state: MessageState, attempt: number): state is Sending | Ambiguous {
  return (state.status === "sending" || state.status === "ambiguous") && state.attempts === attempt;
}

export function channelOf({ channel, media = [] }: ChannelWish): Channel {
  return channel ?? (media.length > 0 ? "mms" : "sms");
}

interface ChannelWish {
  readonly channel?: Channel | undefined;
  readonly media?: readonly unknown[] | undefined;
}
