import type { Runtime } from "../operations/index.ts";
import type { Transport, TransportCapabilities } from "../ports/index.ts";
import type { AttemptRow, MessageRow } from "./rows.ts";

/** The capabilities of each transport, and whether it can look up attempts. */
export type Carriers = ReadonlyMap<string, Carrier>;

interface Carrier extends TransportCapabilities {
  readonly canLookUp: boolean;
}

export function carriersOf(transports: readonly Transport[]): Carriers {
  return new Map(
    transports.map((each) => [
      each.name,
      { ...each.capabilities, canLookUp: each.lookup !== undefined },
    ]),
  );
}

/** The runtime of jobs that call carriers. */
export interface CarrierRuntime extends Runtime {
  readonly carriers: Carriers;
}

/**
 * The delay of the first look-up after the lease of an attempt ended, in milliseconds. The engine
 * that made the call may have stalled and make it later. A look-up before that would find nothing,
 * and the message would be sent twice.
 */
const afterLapse = 60_000;
/**
 * The delay of the first look-up after the transport reported a lost answer, in milliseconds. The
 * call is over, but the carrier may still process it.
 */
const afterLoss = 5_000;
/** The delay after each look-up that found nothing, in milliseconds. */
const lookupDelays = [10_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000] as const;

/**
 * Returns when the first look-up of an attempt is due, in milliseconds. Undefined if none is
 * needed.
 */
export function firstLookupAt(
  attempt: AttemptRow,
  { status }: MessageRow,
  carriers: Carriers,
  now: number,
): number | undefined {
  const carrier = carriers.get(attempt.transport);
  if (carrier === undefined) return undefined;
  if (attempt.outcome === "ambiguous" && status === "ambiguous") {
    if (!carrier.canLookUp) return undefined;
    // The caller stopped or stopped waiting. The call may go on as long as a stalled process can.
    const lapsed = attempt.error?.code === "answer_lost";
    return lapsed ? Math.max(attempt.leased_until, now) + afterLapse : now + afterLoss;
  }
  if (attempt.outcome === "accepted" && (status === "sent" || status === "unconfirmed")) {
    return nextLookupAt(attempt, status, carriers, now);
  }
  return undefined;
}

/** Returns when the next look-up is due, after `attempt.lookups` look-ups. Undefined if none is. */
export function nextLookupAt(
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
  const times = carrier.canLookUp ? lookups_ms.filter((each) => each < timeout_ms) : [];
  return attempt.started_at + (times[attempt.lookups] ?? timeout_ms);
}

/** Returns when the wait for receipts ends. */
export function receiptsEndAt(attempt: AttemptRow, carriers: Carriers): number {
  const receipts = carriers.get(attempt.transport)?.receipts ?? "none";
  return receipts === "none" ? Infinity : attempt.started_at + receipts.timeout_ms;
}
