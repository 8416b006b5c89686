import { consumerEvents, type ConsumerEventRow, consumerEventOf } from "./consumer-rows.ts";
import { consumeJob } from "./consumer-rules.ts";
import { arm } from "../queue/index.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { UnscopedTx } from "../store/index.ts";

/** Tries a parked event again, now and as often as a new one. @throws TidingsError `not_found` when it is not parked */
export async function resumeConsumerEvent(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<void> {
  const row = await parked(tx, consumer, event_id);
  tx.update(consumerEvents, row, { parked_at: null, failures: 0, retry_at: null });
  await arm(tx, consumeJob(row, tx.now));
}

/** Leaves a parked event undone, and goes on behind it. @throws TidingsError `not_found` when it is not parked */
export async function skipConsumerEvent(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<void> {
  const row = await parked(tx, consumer, event_id);
  tx.remove(consumerEvents, row);
  await arm(tx, consumeJob(row, tx.now));
}

async function parked(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<Seen<ConsumerEventRow>> {
  const row = await tx.get(consumerEventOf, [consumer, event_id]);
  if (row === undefined || row.parked_at === null) throw notFound("parked event");
  return row;
}
