import { dayMs, iso } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import { type Index, keyOf, type KeyValue } from "../ports/index.ts";
import { background } from "../store/index.ts";
import { oldestDeliveryTimes, oldestErrors, oldestUsage } from "./rows.ts";

/** How long the counts of an hour and of errors are kept, in milliseconds. */
const keptMs = 92 * dayMs;

/**
 * Removes old counts by the hour and of errors. Each function removes up to `chunk` rows of one
 * kind and returns how many it found. Nothing adds to such old counts any more, so none is lost.
 * The counts by day have few rows and are kept.
 */
export function countReapers({ store, clock }: Runtime, chunk: number): (() => Promise<number>)[] {
  const end = (): number => clock.now() - keptMs;
  const endDay = (): string => iso(end()).slice(0, 10);
  return [
    () => removeBefore(oldestUsage, end()),
    () => removeBefore(oldestDeliveryTimes, end()),
    () => removeBefore(oldestErrors, endDay()),
  ];

  async function removeBefore<R extends object>(index: Index<R>, end: KeyValue): Promise<number> {
    const { collection } = index;
    const old = await store.unscopedReads.range({
      index,
      prefix: [],
      order: "ascending",
      until: [end],
      limit: chunk,
    });
    await store.commitUnscoped(async (tx) => {
      for (const found of old) {
        // Another engine may have removed it meanwhile.
        const row = await tx.get(collection.primary, keyOf(collection, found));
        if (row !== undefined) tx.remove(collection, row);
      }
    }, background);
    return old.length;
  }
}
