import type { EventId, WebhookId } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { disarm, type ChunkResult } from "../../queue/index.ts";
import { background, reread, type Tx, type UnscopedReads } from "../../store/index.ts";
import {
  deliveries,
  deliveriesByPosition,
  deliveriesOfEvent,
  deliveriesOfWebhook,
  deliveryAttempts,
  maxAttemptsRead,
  type DeliveryAttemptRow,
  type DeliveryRow,
} from "../rows.ts";

/**
 * Removes a delivery and its attempts. An attempt that is under way is not recorded, because its
 * delivery is gone.
 */
export async function removeDelivery(tx: Tx, delivery: Seen<DeliveryRow>): Promise<void> {
  for (const attempt of await attemptsOf(tx, [delivery])) tx.remove(deliveryAttempts, attempt);
  tx.remove(deliveries, delivery);
}

/** The number of deliveries that one transaction removes, each with its attempts. */
const discardChunk = 50;

/**
 * Removes one chunk of the deliveries of a deleted webhook. Returns whether more may be left. The
 * last chunk also removes the job.
 */
export async function discardDeliveries(tx: Tx, id: WebhookId): Promise<ChunkResult> {
  const found = await tx.list(deliveriesOfWebhook, [id], discardChunk);
  await Promise.all(found.map((delivery) => removeDelivery(tx, delivery)));
  if (found.length === discardChunk) return "more";
  await disarm(tx, { kind: "discard", key: { webhook_id: id } });
  return "done";
}

/**
 * Returns the attempts of deliveries, in one round trip. The caller writes the deliveries, so an
 * attempt that is recorded meanwhile conflicts.
 */
export async function attemptsOf(
  tx: Tx,
  of: readonly DeliveryRow[],
): Promise<readonly Seen<DeliveryAttemptRow>[]> {
  const attempted = of.filter(({ attempts }) => attempts > 0);
  const found = await Promise.all(
    attempted.map(({ id }) => tx.list(deliveryAttempts.primary, [id], maxAttemptsRead)),
  );
  return found.flat();
}

/**
 * Removes deliveries that are older than the event retention time, whatever their status, in the
 * order of their positions, one chunk per call. Each call returns the number of rows read, or 0
 * when none of them was old enough. Later positions are younger unless the clock was set; a later
 * run removes those.
 */
export function deliveryReaper(
  { store, clock, services: { eventsKeptMs } }: Runtime,
  chunk: number,
): () => Promise<number> {
  let after = 0;
  return async () => {
    const oldest = await store.unscopedReads.range({
      index: deliveriesByPosition,
      prefix: [],
      order: "ascending",
      after: [after],
      limit: chunk,
    });
    const expired = oldest.filter(({ created_at }) => created_at < clock.now() - eventsKeptMs);
    if (expired.length === 0) return 0;
    after = oldest.at(-1)?.position ?? after;
    await store.commitUnscoped(async (tx) => {
      const rows = await reread(tx, deliveriesByPosition, expired);
      await Promise.all(rows.map((row) => removeDelivery(tx.in(row), row)));
    }, background);
    return oldest.length;
  };
}

/** Returns which of these events have deliveries. */
export async function eventsWithDeliveries(
  reads: UnscopedReads,
  ids: readonly EventId[],
): Promise<readonly EventId[]> {
  const found = await reads.lists(
    deliveriesOfEvent,
    ids.map((id) => [id]),
    1,
  );
  return found.flat().map(({ event_id }) => event_id);
}
