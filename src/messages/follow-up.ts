import type { AttemptRow, MessageRow } from "./rows.ts";
import type { Carriers } from "./carriers.ts";

/**
 * How long a lost answer is left alone. Whoever called the carrier may only have stalled, and its call may still get through: a
 * look-up before that could find nothing and send a second one.
 */
const afterLapse = 60_000;
/** When the transport itself says that it lost the answer, its call is over; the carrier may still be at it. In milliseconds. */
const afterLoss = 5_000;
/** Then, as long as the carrier doesn't know, after each look-up. */
const lookupDelays = [10_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000] as const;

/** When an attempt is to be looked after first, in milliseconds; `undefined` when nothing more is to come. */
export function firstLookAt(
  attempt: AttemptRow,
  { status }: MessageRow,
  carriers: Carriers,
  now: number,
): number | undefined {
  const carrier = carriers.get(attempt.transport);
  if (carrier === undefined) return undefined;
  if (attempt.outcome === "ambiguous" && status === "ambiguous") {
    if (!carrier.canLookUp) return undefined;
    // Whoever made the call is gone, or did not wait for its end: it may go on as long as a stalled process may.
    const lapsed = attempt.error?.code === "answer_lost";
    return lapsed ? Math.max(attempt.leased_until, now) + afterLapse : now + afterLoss;
  }
  if (attempt.outcome === "accepted" && (status === "sent" || status === "unconfirmed")) {
    return nextLookAt(attempt, status, carriers, now);
  }
  return undefined;
}

/** When to look again, after `attempt.lookups` looks. */
export function nextLookAt(
  attempt: AttemptRow,
  status: MessageRow["status"],
  carriers: Carriers,
  now: number,
): number | undefined {
  const carrier = carriers.get(attempt.transport);
  if (carrier === undefined) return undefined;
  if (status === "ambiguous") {
    const delay = lookupDelays[attempt.lookups - 1];
    return delay === undefined ? undefined : now + delay;
  }
  if (status !== "sent" || carrier.receipts === "none") return undefined;
  const { lookups_ms, timeout_ms } = carrier.receipts;
  const looks = carrier.canLookUp ? lookups_ms.filter((each) => each < timeout_ms) : [];
  return attempt.started_at + (looks[attempt.lookups] ?? timeout_ms);
}

/** Until when receipts are waited for. */
export function receiptsEndAt(attempt: AttemptRow, carriers: Carriers): number {
  const receipts = carriers.get(attempt.transport)?.receipts ?? "none";
  return receipts === "none" ? Infinity : attempt.started_at + receipts.timeout_ms;
}
