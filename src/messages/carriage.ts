/**
 * What is known of a message once it left: the join of all evidence, so that neither order nor repetition matters.
 *
 * Evidence ranks `sent < unconfirmed < undelivered < delivered < read`. The winner is the one of the highest rank, of
 * those the first by (carrier's time, error code). Each of the three times is the earliest that any evidence proves:
 * what was read had been delivered by then, and what was delivered, or could not be, had been sent.
 */
import type { IgnoredReason } from "./timeline-types.ts";
import type { MessageError } from "./types.ts";

/** `at` is the carrier's time, in milliseconds; of `unconfirmed`, when the wait for a receipt ended. */
export type Evidence =
  | {
      readonly status: "sent" | "unconfirmed" | "delivered" | "read";
      readonly at: number;
      readonly error: null;
    }
  | { readonly status: "undelivered"; readonly at: number; readonly error: MessageError };

/** The winning evidence, and the times of all of it. */
export type Carriage = Evidence & {
  readonly sent_at: number | null;
  readonly delivered_at: number | null;
  readonly read_at: number | null;
};

export type CarriageStatus = Evidence["status"];

const rank: Record<CarriageStatus, number> = {
  sent: 1,
  unconfirmed: 2,
  undelivered: 3,
  delivered: 4,
  read: 5,
};

export type Joined =
  | { readonly applied: true; readonly carriage: Carriage }
  | {
      readonly applied: false;
      readonly carriage: Carriage;
      readonly ignored_reason: IgnoredReason;
    };

/** Commutative, associative, idempotent. `null`: nothing is known yet. */
export function join(known: Carriage | null, evidence: Evidence): Joined {
  const fresh = alone(evidence);
  if (known === null) return { applied: true, carriage: fresh };

  const order = compare(evidence, known);
  const times = {
    sent_at: earliest(known.sent_at, fresh.sent_at),
    delivered_at: earliest(known.delivered_at, fresh.delivered_at),
    read_at: earliest(known.read_at, fresh.read_at),
  };
  const moved =
    times.sent_at !== known.sent_at ||
    times.delivered_at !== known.delivered_at ||
    times.read_at !== known.read_at;
  if (order < 0 || moved) {
    return {
      applied: true,
      carriage: order < 0 ? { ...evidence, ...times } : { ...known, ...times },
    };
  }
  const ignored_reason =
    order === 0
      ? "duplicate"
      : rank[evidence.status] < rank[known.status]
        ? "outranked"
        : "already_known";
  return { applied: false, carriage: known, ignored_reason };
}

/** What one piece of evidence proves by itself. */
function alone(evidence: Evidence): Carriage {
  const { status, at } = evidence;
  const delivered = status === "delivered" || status === "read";
  return {
    ...evidence,
    sent_at: status === "unconfirmed" ? null : at,
    delivered_at: delivered ? at : null,
    read_at: status === "read" ? at : null,
  };
}

/** Below zero when `a` wins over `b`; zero only when they say the same. */
function compare(a: Evidence, b: Evidence): number {
  const byTime = rank[b.status] - rank[a.status] || a.at - b.at;
  return byTime || order(a.error?.code, b.error?.code) || order(told(a), told(b));
}

/** The whole of an error, so that two receipts of the same instant and code have an order too. */
function told({ error }: Evidence): string {
  if (error === null) return "";
  return JSON.stringify([error.provider_code, error.message, error.stage, error.permanent]);
}

function order(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
