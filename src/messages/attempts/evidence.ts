/**
 * What is known of an attempt that the carrier has. It combines all evidence: the answer, look-ups
 * and receipts. It does not depend on the order of the evidence or on duplicates.
 *
 * Evidence ranks `sent < unconfirmed < undelivered < delivered < read`. The highest rank wins. Of
 * the same rank, the earliest carrier time wins. Of the same time, the error that comes first in
 * text order wins. `sent_at`, `delivered_at` and `read_at` are each the earliest time that any
 * evidence proves: `read` proves delivery, and all but `unconfirmed` prove sending.
 */
import type { IgnoredReason } from "../timeline/timeline-types.ts";
import type { MessageError } from "../types.ts";

/** `at` is the carrier's time in milliseconds. For `unconfirmed`, it is the end of the wait. */
export type Evidence =
  | {
      readonly status: "sent" | "unconfirmed" | "delivered" | "read";
      readonly at: number;
      readonly error: null;
    }
  | { readonly status: "undelivered"; readonly at: number; readonly error: MessageError };

/** The winning evidence, and the earliest times that all evidence proves. */
export type CarrierState = Evidence & {
  readonly sent_at: number | null;
  readonly delivered_at: number | null;
  readonly read_at: number | null;
};

type CarrierStatus = Evidence["status"];

/** The rank of each status. Evidence of a higher rank wins. */
export const rank: Readonly<Record<CarrierStatus, number>> = {
  sent: 1,
  unconfirmed: 2,
  undelivered: 3,
  delivered: 4,
  read: 5,
};

/** The state after a piece of evidence. */
interface JoinResult {
  readonly state: CarrierState;
  /** Why the evidence changed nothing. Null if it changed the state. */
  readonly ignored_reason: IgnoredReason | null;
}

/** Adds evidence to a state. `known` is null before the first evidence. */
export function join(known: CarrierState | null, evidence: Evidence): JoinResult {
  const fresh = alone(evidence);
  if (known === null) return { state: fresh, ignored_reason: null };

  const state = merge(known, fresh);
  const compared = compareEvidence(evidence, known);
  const hasNewTime =
    state.sent_at !== known.sent_at ||
    state.delivered_at !== known.delivered_at ||
    state.read_at !== known.read_at;
  if (compared < 0 || hasNewTime) return { state, ignored_reason: null };
  const ignored_reason =
    compared === 0
      ? "duplicate"
      : rank[evidence.status] < rank[known.status]
        ? "outranked"
        : "already_known";
  return { state: known, ignored_reason };
}

/**
 * Returns the state that two states give together. The operation is commutative, associative and
 * idempotent.
 */
export function merge(a: CarrierState, b: CarrierState): CarrierState {
  return {
    ...(compareEvidence(b, a) < 0 ? b : a),
    sent_at: earliest(a.sent_at, b.sent_at),
    delivered_at: earliest(a.delivered_at, b.delivered_at),
    read_at: earliest(a.read_at, b.read_at),
  };
}

/** Returns what one piece of evidence proves by itself. */
function alone(evidence: Evidence): CarrierState {
  const { status, at } = evidence;
  const delivered = status === "delivered" || status === "read";
  return {
    ...evidence,
    sent_at: status === "unconfirmed" ? null : at,
    delivered_at: delivered ? at : null,
    read_at: status === "read" ? at : null,
  };
}

/** Returns a negative number if `a` outranks `b`, and zero only if both are equal. */
function compareEvidence(a: Evidence, b: Evidence): number {
  const byRankAndTime = rank[b.status] - rank[a.status] || a.at - b.at;
  return (
    byRankAndTime ||
    compareText(a.error?.code, b.error?.code) ||
    compareText(errorKey(a), errorKey(b))
  );
}

/** Returns the whole error as text. It orders two receipts with the same time and code. */
function errorKey({ error }: Evidence): string {
  if (error === null) return "";
  return JSON.stringify([error.provider_code, error.message, error.stage, error.permanent]);
}

function compareText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
