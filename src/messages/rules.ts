/**
 * The state machine of an outbound message. The functions are pure: each takes a state and returns
 * a decision with the next state.
 *
 * Before the hand-over, a message moves `scheduled → queued → sending`. An attempt that certainly
 * sent nothing returns it to `queued`. An attempt whose answer is lost makes it `ambiguous`; only a
 * look-up or a route's `fallBackAfter` takes it back from there. It can end as `canceled`,
 * `expired` or `failed`.
 *
 * Proof that the carrier has the message outranks all of these states. From then on its state is
 * its `Carriage`, and it is not sent again, unless a route falls back after `undelivered`.
 * A message is never both canceled and sent: both need the status `queued` and both leave it.
 */
import { type Channel, type FieldError, maxScheduleAhead } from "../kernel/index.ts";
import type { EventType } from "../events/index.ts";
import { type Carriage, type Evidence, join, type Joined } from "./carriage.ts";
import { defaultTtl } from "./input-types.ts";
import type { MessageError, MessageStatus } from "./types.ts";

/** Times are in milliseconds since the epoch. `attempts` includes the attempt in progress. */
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

/** The event changes nothing in this state. */
export type NoChange = { readonly decision: "none" };
export const noChange: NoChange = { decision: "none" };

export function isCarried(state: MessageState): state is Carriage {
  return "sent_at" in state;
}

export type Plan =
  | { readonly decision: "planned"; readonly state: Scheduled | Queued }
  | { readonly decision: "invalid"; readonly error: FieldError };

/** Returns the first state of a new message. The ttl counts from `send_at`, or from now. */
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

/** Only a scheduled message can be edited. The ttl moves with `send_at`; a past time means now. */
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

/** Queues a scheduled message that is due. */
export function release(
  state: MessageState,
  now: number,
): { decision: "released"; state: Queued } | NoChange {
  if (state.status !== "scheduled" || state.send_at > now) return noChange;
  const { expires_at, attempts } = state;
  return { decision: "released", state: { status: "queued", due_at: now, expires_at, attempts } };
}

/** Expires a waiting message whose ttl is over. */
export function expire(
  state: MessageState,
  now: number,
): { decision: "expired"; state: Expired } | NoChange {
  if (!isWaiting(state) || state.expires_at > now) return noChange;
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
  | NoChange;

/**
 * Decides whether to call the carrier now. The caller commits `send` before it calls the carrier.
 */
export function handOver(state: MessageState, now: number): HandOver {
  if (state.status !== "queued") return noChange;
  const { due_at, expires_at, attempts } = state;
  if (expires_at <= now) {
    return { decision: "expired", state: { status: "expired", error: ttlElapsed } };
  }
  if (due_at > now) return { decision: "wait", until: Math.min(due_at, expires_at) };
  return { decision: "send", state: { status: "sending", expires_at, attempts: attempts + 1 } };
}

/** In milliseconds. The minimum keeps a policy from deferring the same message in a tight loop. */
const minDeferral = 1_000;

/** The maximum time from creation to expiry that deferrals can reach, in milliseconds. */
const maxWait = 2 * maxScheduleAhead;

/**
 * Schedules a queued message anew after a policy deferred it. The ttl moves along, because the
 * deferral does not count against it. `maxWait` bounds the sum, because a rule can defer forever.
 */
export function defer(
  state: MessageState,
  until: number,
  created_at: number,
  now: number,
): Scheduled {
  if (state.status !== "queued") {
    throw new TypeError(
      `cannot defer a message with status ${state.status}; only a queued message can be deferred`,
    );
  }
  const { attempts } = state;
  const send_at = Math.max(until, now + minDeferral);
  const expires_at = Math.min(state.expires_at + (send_at - now), created_at + maxWait);
  return {
    status: "scheduled",
    send_at,
    expires_at: Math.max(state.expires_at, expires_at),
    attempts,
  };
}

/** The error of a message that a policy denied. A host rule's code becomes `provider_code`. */
export function policyError(code: string, message: string): MessageError {
  const known = code === "recipient_opted_out";
  return {
    code: known ? code : "policy_denied",
    message,
    permanent: true,
    stage: "policy",
    provider_code: known ? null : code,
  };
}

/** Evidence counts in every state, including `canceled`, `expired` and `failed`. */
export function applyEvidence(
  state: MessageState,
  evidence: Evidence,
): { decision: "carried"; state: Carriage; joined: Joined } {
  const joined = join(isCarried(state) ? state : null, evidence);
  return { decision: "carried", state: joined.carriage, joined };
}

/**
 * Returns whether evidence of an attempt no longer counts, because a later attempt replaced it.
 * Proof of delivery always counts. `sent` counts unless the carrier had already given the message
 * up.
 */
export function isSuperseded(
  { status }: Evidence,
  attempt: { isLast: boolean; isGivenUp: boolean },
): boolean {
  if (status === "delivered" || status === "read") return false;
  return attempt.isGivenUp || (status === "undelivered" && !attempt.isLast);
}

/** The wait for a receipt is over. */
export function applyReceiptTimeout(
  state: MessageState,
  now: number,
): { decision: "carried"; state: Carriage; joined: Joined } | NoChange {
  return state.status === "sent"
    ? applyEvidence(state, { status: "unconfirmed", at: now, error: null })
    : noChange;
}

/** Returns the events to publish for a change of status. */
export function eventsFor(from: MessageStatus | null, to: MessageStatus): EventType[] {
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

function isWaiting(state: MessageState): state is Scheduled | Queued {
  return state.status === "scheduled" || state.status === "queued";
}

export function channelOf({ channel, media = [] }: ChannelWish): Channel {
  return channel ?? (media.length > 0 ? "mms" : "sms");
}

interface ChannelWish {
  readonly channel?: Channel | undefined;
  readonly media?: readonly unknown[] | undefined;
}
