import { consumerByName, consumerEvents, consumerEventsOfKey, consumers } from "./consumer-rows.ts";
import { consumeJob } from "./consumer-rules.ts";
import { disarm } from "../queue/index.ts";
import { notFound } from "../kernel/index.ts";
import type { Store } from "../store/index.ts";

/** Rows that one transaction removes. */
const chunk = 200;

/**
 * Forgets a consumer: its place in the log, and what it had yet to handle. Its place goes first, so that nobody queues more for it;
 * cut off in between, it is run again and goes on.
 */
export async function removeConsumer(store: Store, name: string): Promise<void> {
  let found = await store.commitUnscoped(async (tx) => {
    const consumer = await tx.get(consumerByName, [name]);
    if (consumer !== undefined) tx.remove(consumers, consumer);
    return consumer !== undefined;
  });
  for (;;) {
    const range = {
      index: consumerEventsOfKey,
      prefix: [name],
      order: "ascending",
      limit: chunk,
    } as const;
    const rows = await store.unscopedReads.range(range);
    found ||= rows.length > 0;
    await store.commitUnscoped(async (tx) => {
      for (const { key, position } of rows) {
        const row = await tx.get(consumerEventsOfKey, [name, key, position]);
        if (row !== undefined) tx.remove(consumerEvents, row);
      }
      for (const key of new Set(rows.map((row) => row.key))) {
        await disarm(tx, consumeJob({ consumer: name, key }, tx.now));
      }
    });
    if (rows.length < chunk) break;
  }
  if (!found) throw notFound("consumer");
}
