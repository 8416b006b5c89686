import { removeDelivery } from "./remove-delivery.ts";
import { deliveriesByPosition } from "./rows.ts";
import type { ReapEvents } from "../events/reap-events.ts";

const own = { own: true } as const;

/**
 * Removes deliveries that are as old as events may get, in the order of their positions, whatever became of them. A chunk at each call,
 * which answers how many rows it looked at; none where not one of them was old enough: those behind it are younger, but for what clocks that
 * were set make of it, and that has its turn later.
 */
export function deliveryReaper(
  { store, clock, eventMs }: ReapEvents,
  chunk: number,
): () => Promise<number> {
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
    const expired = oldest.filter(({ created_at }) => created_at < clock.now() - eventMs);
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
