import { deliveriesOfEvent } from "./rows.ts";
import type { EventId } from "../kernel/index.ts";
import type { UnscopedReads } from "../store/index.ts";
import { removeDelivery } from "./remove-delivery.ts";
import { deliveriesByPosition } from "./rows.ts";
import type { Runtime } from "../operations/index.ts";
import { dayMs } from "../events/index.ts";

const own = { own: true } as const;

/**
 * Removes deliveries past the retention time of events, whatever their status, in the order of their positions, one chunk a call.
 * Each call returns how many rows it read, or 0 when none of them was old enough: later positions are younger, unless a clock
 * was set, and those rows are removed by a later run.
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
    }, own);
    return oldest.length;
  };
}

/** Which of these events have deliveries. */
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
