/**
 * The state machine of an outbound message. The functions are pure: each takes a state and returns
 * a decision with the next state.
 *
 * Before the hand-over, a message moves `scheduled → queued → sending`. From then on, its attempts
 * decide (`attempts/outcome.ts`). They can return it to `queued`.
 *
 * Canceling needs the status `scheduled` or `queued`, and sending needs `queued`. Both leave that
 * status, so a canceled message is not sent afterwards.
 */
import {
  maxScheduleAheadMs,
  type Channel,
  type FieldError,
  type MessageStatus,
} from "../kernel/index.ts";
import type { CarrierState } from "./attempts/evidence.ts";
import { defaultTtlMs } from "./input-types.ts";
import type { MessageError } from "./types.ts";

// In all states, times are in milliseconds since the epoch. `attempts` is the number of attempts,
// with the one in progress.
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
type Sending = {
  readonly status: "sending";
  readonly expires_at: number;
  readonly attempts: number;
};
type Ambiguous = {
  readonly status: "ambiguous";
  readonly expires_at: number;
  readonly attempts: number;
  readonly error: MessageError;
};
type Canceled = { readonly status: "canceled" };
export type Expired = { readonly status: "expired"; readonly error: MessageError };
export type Failed = { readonly status: "failed"; readonly error: MessageError };

type CoreState = Scheduled | Queued | Sending | Ambiguous | Canceled | Expired | Failed;

/** A state as it is written. */
export type NewState = CoreState | CarrierState;
/** A state as it is read. What proves that a carrier has a message is read from its attempts. */
export type MessageState = CoreState | Pick<CarrierState, "status">;

/** The decision to change nothing. */
type NoChange = { readonly decision: "none" };
const noChange: NoChange = { decision: "none" };

type Plan =
  | { readonly decision: "planned"; readonly state: Scheduled | Queued }
  | { readonly decision: "invalid"; readonly error: FieldError };

/**
 * Returns the first state of a new message. The time to live counts from `send_at`, or from now if
 * `send_at` is absent or past.
 */
export function plan(request: { send_at?: number | null; ttl?: number }, now: number): Plan {
  const { send_at = null, ttl = defaultTtlMs } = request;
  if (send_at === null || send_at <= now) {
    return {
      decision: "planned",
      state: { status: "queued", due_at: now, expires_at: now + ttl, attempts: 0 },
    };
  }
  if (send_at > now + maxScheduleAheadMs) return { decision: "invalid", error: tooFarAhead };
  return {
    decision: "planned",
    state: { status: "scheduled", send_at, expires_at: send_at + ttl, attempts: 0 },
  };
}

const tooFarAhead: FieldError = {
  pointer: "/send_at",
  code: "too_far_ahead",
  message: "must be at most 35 days ahead",
};

type Edit =
  | { readonly decision: "edited"; readonly state: Scheduled }
  | { readonly decision: "invalid"; readonly error: FieldError }
  | { readonly decision: "refused"; readonly status: MessageStatus };

/**
 * Changes the time of a scheduled message. `expires_at` moves by the same time as `send_at`. A past
 * time means now. A message with another status cannot be edited.
 */
export function edit(state: MessageState, change: { send_at?: number }, now: number): Edit {
  if (state.status !== "scheduled") return { decision: "refused", status: state.status };
  if (change.send_at === undefined) return { decision: "edited", state };
  if (change.send_at > now + maxScheduleAheadMs) return { decision: "invalid", error: tooFarAhead };
  const send_at = Math.max(change.send_at, now);
  const ttl = state.expires_at - state.send_at;
  // Deferrals can use up the time to live (`defer`). The edited message gets the default one.
  const expires_at = send_at + (ttl > 0 ? ttl : defaultTtlMs);
  return { decision: "edited", state: { ...state, send_at, expires_at } };
}

type Cancel =
  | { readonly decision: "canceled"; readonly state: Canceled }
  | { readonly decision: "refused"; readonly status: MessageStatus };

/** Cancels a message that is not yet being sent. */
export function cancel(state: MessageState): Cancel {
  if (!isWaiting(state)) return { decision: "refused", status: state.status };
  return { decision: "canceled", state: { status: "canceled" } };
}

/** Queues a scheduled message if it is due. */
export function release(
  state: MessageState,
  now: number,
): { decision: "released"; state: Queued } | NoChange {
  if (state.status !== "scheduled" || state.send_at > now) return noChange;
  const { expires_at, attempts } = state;
  return { decision: "released", state: { status: "queued", due_at: now, expires_at, attempts } };
}

/** Whether a message still waits after the end of its time to live. */
export function hasExpired(state: MessageState, now: number): boolean {
  return isWaiting(state) && state.expires_at <= now;
}

/** The state of a message that cannot be sent within its time to live. */
export const expiredState: Expired = {
  status: "expired",
  error: {
    code: "ttl_elapsed",
    message: "The message could not be sent within its time to live.",
    permanent: false,
    stage: "queue",
    provider_code: null,
  },
};

type HandOver =
  | { readonly decision: "send"; readonly state: Sending }
  | { readonly decision: "wait"; readonly until: number }
  | { readonly decision: "expire" }
  | NoChange;

/**
 * Decides whether to call the carrier now. If so, the caller commits the new state before the call.
 */
export function handOver(state: MessageState, now: number): HandOver {
  if (state.status !== "queued") return noChange;
  const { due_at, expires_at, attempts } = state;
  if (expires_at <= now) return { decision: "expire" };
  if (due_at > now) return { decision: "wait", until: Math.min(due_at, expires_at) };
  return { decision: "send", state: { status: "sending", expires_at, attempts: attempts + 1 } };
}

/**
 * The minimum time of a deferral, in milliseconds. It keeps a policy from deferring the same
 * message in a tight loop.
 */
const minDeferralMs = 1_000;

/**
 * Deferrals move a message's expiry to at most this long after its creation, or after an edit last
 * changed its `send_at`, in milliseconds. A policy of the host application could otherwise defer a
 * message forever.
 */
const maxWaitMs = 2 * maxScheduleAheadMs;

/**
 * Schedules a queued message anew after a policy deferred it. `expires_at` moves by the same time,
 * because a deferral does not count against the time to live. A message that is deferred beyond the
 * limit of its expiry (`maxWaitMs` after `planned_at`) expires at that limit.
 */
export function defer(
  state: MessageState,
  until: number,
  planned_at: number,
  now: number,
): Scheduled {
  if (state.status !== "queued") {
    throw new TypeError(
      `cannot defer a message with status ${state.status}; only a queued message can be deferred`,
    );
  }
  const { attempts } = state;
  const deferred = Math.max(until, now + minDeferralMs);
  const expires_at = Math.max(
    state.expires_at,
    Math.min(state.expires_at + (deferred - now), planned_at + maxWaitMs),
  );
  return { status: "scheduled", send_at: Math.min(deferred, expires_at), expires_at, attempts };
}

/**
 * Returns the error of a message that a policy denied. The code of a host application's policy
 * becomes `provider_code`.
 */
export function policyError(code: string, message: string): MessageError {
  const isEngineCode = code === "recipient_opted_out";
  return {
    code: isEngineCode ? code : "policy_denied",
    message,
    permanent: true,
    stage: "policy",
    provider_code: isEngineCode ? null : code,
  };
}

/** A status in which a message has ended without arriving. */
export type EndStatus = "failed" | "expired" | "undelivered" | "canceled";

/** Returns the first status in which a message has ended. Null if it has never ended. */
export function endOf(status: MessageStatus, ended_as: EndStatus | null = null): EndStatus | null {
  if (ended_as !== null) return ended_as;
  return status === "canceled" || isFailure(status) ? status : null;
}

/**
 * Returns the event with which a change of status reports that the message has arrived or failed.
 * `ended_as` is the first status in which the message had ended before. A failure is reported once,
 * also if a receipt contradicts it in between. A failure after `canceled` is reported, too.
 */
export function endEventOf(
  from: MessageStatus,
  to: MessageStatus,
  ended_as: EndStatus | null = null,
): "message.sent" | "message.failed" | undefined {
  if (isArrived(to)) return isArrived(from) ? undefined : "message.sent";
  const before = endOf(from, ended_as);
  return isFailure(to) && (before === null || before === "canceled") ? "message.failed" : undefined;
}

/** Whether a message with this status has reached the recipient. */
export const isArrived = (status: MessageStatus): boolean =>
  status === "delivered" || status === "read";

const isFailure = (status: MessageStatus): status is "failed" | "expired" | "undelivered" =>
  status === "failed" || status === "expired" || status === "undelivered";

/** Whether a message waits to be handed over, for the first time or again. */
export function isWaiting<M extends { readonly status: MessageStatus }>(
  message: M,
): message is M & { readonly status: "scheduled" | "queued" } {
  return message.status === "scheduled" || message.status === "queued";
}

/** Returns the requested channel. By default a message with media is an MMS, any other an SMS. */
export function channelOf({ channel, media = [] }: ChannelRequest): Channel {
  return channel ?? (media.length > 0 ? "mms" : "sms");
}

interface ChannelRequest {
  readonly channel?: Channel | undefined;
  readonly media?: readonly unknown[] | undefined;
}
