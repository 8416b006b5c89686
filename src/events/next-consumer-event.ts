import { consumerEvents, type ConsumerEventRow, consumerEventsOfKey } from "./consumer-rows.ts";
import { eventsByPosition, type EventRow } from "./rows.ts";
import { type Claim, finish, renew } from "../queue/index.ts";
import type { Seen } from "../ports/index.ts";
import type { UnscopedTx } from "../store/index.ts";

export interface NextConsumerEvent {
  readonly row: Seen<ConsumerEventRow>;
  readonly event: Seen<EventRow>;
}

/** Rows looked at in one go; more than one only where events are gone, as after a reset of the sandbox. */
const mostLooked = 50;

/**
 * The first event of the key that is not handled yet, with a lease that outlasts the handler. Where there is none, or it has to wait,
 * the job is finished; where the lease was lost, nothing is done.
 */
export async function nextConsumerEvent(
  tx: UnscopedTx,
  claim: Claim<"consume">,
  leaseMs: number,
): Promise<NextConsumerEvent | undefined> {
  if (!(await renew(tx, claim, leaseMs))) return undefined;
  const { consumer, key } = claim.key;
  const rows = await tx.list(consumerEventsOfKey, [consumer, key], mostLooked);
  for (const row of rows) {
    const { parked_at, retry_at, position } = row;
    if (parked_at !== null) {
      await finish(tx, claim);
      return undefined;
    }
    if (retry_at !== null && retry_at > tx.now) {
      // What came after it has armed the job.
      await finish(tx, claim, { againAt: retry_at, failed: true });
      return undefined;
    }
    const event = await tx.get(eventsByPosition, [position]);
    if (event !== undefined) return { row, event };
    tx.remove(consumerEvents, row);
  }
  await finish(tx, claim, rows.length < mostLooked ? {} : { againAt: tx.now });
  return undefined;
}

/**
 * Takes an event off the consumer's list. Within the handler's transaction it comes first: who else is at the same event waits for the
 * outcome, and finds it done. Answers whether it was there.
 */
export async function takeConsumerEvent(
  tx: UnscopedTx,
  { consumer, key, position }: Pick<ConsumerEventRow, "consumer" | "key" | "position">,
): Promise<boolean> {
  const row = await tx.get(consumerEventsOfKey, [consumer, key, position]);
  if (row === undefined || row.parked_at !== null) return false;
  tx.remove(consumerEvents, row);
  return true;
}
