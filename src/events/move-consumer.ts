import { consumerByName, consumerEvents, consumers } from "./consumer-rows.ts";
import { consumeJob } from "./consumer-rules.ts";
import type { EventRow } from "./rows.ts";
import { arm } from "../queue/index.ts";
import type { UnscopedTx } from "../store/index.ts";

export interface ConsumerMove {
  readonly name: string;
  /** Where the consumer stood when the log was read. */
  readonly from: number;
  readonly to: number;
  /** Those between the two that are for it. */
  readonly events: readonly EventRow[];
}

/**
 * Moves a consumer along the log, and queues what is for it. Of engines that read the same stretch at once one moves it: to the
 * others the consumer stands elsewhere than where they read from, and they change nothing.
 */
export async function moveConsumer(
  tx: UnscopedTx,
  { name, from, to, events }: ConsumerMove,
): Promise<void> {
  const consumer = await tx.get(consumerByName, [name]);
  if (consumer?.position !== from) return;
  tx.update(consumers, consumer, { position: to, moved_at: tx.now });
  const keys = new Set<string>();
  for (const { id: event_id, position, account_id, mode, conversation_id, contact_id } of events) {
    const key = conversation_id ?? contact_id ?? event_id;
    keys.add(key);
    const fresh = { failures: 0, retry_at: null, error: null, parked_at: null };
    tx.insert(consumerEvents, {
      consumer: name,
      key,
      position,
      event_id,
      account_id,
      mode,
      ...fresh,
    });
  }
  await Promise.all([...keys].map((key) => arm(tx, consumeJob({ consumer: name, key }, tx.now))));
}
