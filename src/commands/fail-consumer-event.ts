import { consumerEvents, type ConsumerEventRow, consumerEventsOfKey } from "../domain/consumers/rows.ts";
import { retryDelay } from "../domain/consumers/rules.ts";
import { finish } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import type { Tx } from "../transactions/transaction.ts";

/**
 * Notes that the handler failed: the event is tried again after a while, and parked after the last try. Either way it holds its key
 * and no other. Answers whether it is parked.
 */
export async function failConsumerEvent(
  tx: Tx,
  claim: Claim,
  { consumer, key, position }: ConsumerEventRow,
  error: string,
): Promise<boolean> {
  const row = await tx.get(consumerEventsOfKey, [consumer, key, position]);
  // The commit's outcome was not known, and it had succeeded: or another engine was at it under a later lease.
  if (row === undefined || row.parked_at !== null) {
    await finish(tx, claim, { againAt: tx.now });
    return false;
  }
  const failures = row.failures + 1;
  const delay = retryDelay(failures);
  const isParked = delay === undefined;
  const retry_at = isParked ? null : tx.now + delay;
  tx.update(consumerEvents, row, { failures, error, retry_at, parked_at: isParked ? tx.now : null });
  await finish(tx, claim, retry_at === null ? {} : { againAt: retry_at, failed: true });
  return isParked;
}
