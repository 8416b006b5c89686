import { dayMs } from "../kernel/index.ts";
import type { EventId } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import { background, type UnscopedReads } from "../store/index.ts";
import { removeDelivery } from "./remove-deliveries.ts";
import { deliveriesByPosition, deliveriesOfEvent } from "./rows.ts";

/**
 * Removes deliveries that are older than the event retention time, whatever their status, in the
 * order of their positions, one chunk per call. Each call returns the number of rows read, or 0
 * when none of them was old enough. Later positions are younger unless the clock was set; a later
 * run removes those.
 */
export function deliveryReaper(
  { store, clock, eventRetentionDays }: Runtime,
  chunk: number,
): () => Promise<number> {
  const keptMs = eventRetentionDays * dayMs;
  let after = 0;
  return async () => {
    const range = {
      index: deliveriesByPosition,
      prefix: [],
      order: "ascending",
      after: [after],
      limit: chunk,
    } as const;
    const oldest = await store.unscopedReads.range(range);
    const expired = oldest.filter(({ created_at }) => created_at < clock.now() - keptMs);
    if (expired.length === 0) return 0;
    after = oldest.at(-1)?.position ?? after;
    await store.commitUnscoped(async (tx) => {
      await Promise.all(
        expired.map(async ({ position }) => {
          const row = await tx.get(deliveriesByPosition, [position]);
          if (row !== undefined) await removeDelivery(tx.in(row), row);
        }),
      );
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
