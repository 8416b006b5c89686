import { consumerEvents, type ConsumerEventRow, consumerEventsOfKey } from "./consumer-rows.ts";
import { retryDelay } from "./consumer-rules.ts";
import { eventsByPosition, type EventRow } from "./rows.ts";
import { type Claim, finish } from "../queue/index.ts";
import type { Seen } from "../ports/index.ts";
import type { UnscopedTx } from "../store/index.ts";

/** What the handler failed at. */
export interface Failed {
  readonly row: ConsumerEventRow;
  readonly event: Seen<EventRow>;
}

/**
 * Notes that the handler failed: the event is tried again after a while, and parked after the last try. Either way it holds its key
 * and no other. Answers whether it is parked.
 */
export async function failConsumerEvent(
  tx: UnscopedTx,
  claim: Claim<"consume">,
  { row: { consumer, key, position }, event }: Failed,
  thrown: string,
): Promise<boolean> {
  const row = await tx.get(consumerEventsOfKey, [consumer, key, position]);
  // The commit's outcome was not known, and it had succeeded: or another engine was at it under a later lease.
  if (row === undefined || row.parked_at !== null) {
    await finish(tx, claim, { againAt: tx.now });
    return false;
  }
  const latest = await tx.get(eventsByPosition, [position], { hold: true });
  // Erased or redacted while the handler had it: what it threw may quote what is gone.
  const error = latest?.version === event.version ? thrown : "";
  const failures = row.failures + 1;
  const delay = retryDelay(failures);
  const isParked = delay === undefined;
  const retry_at = isParked ? null : tx.now + delay;
  tx.update(consumerEvents, row, {
    failures,
    error,
    retry_at,
    parked_at: isParked ? tx.now : null,
  });
  await finish(tx, claim, retry_at === null ? {} : { againAt: retry_at, failed: true });
  return isParked;
}
