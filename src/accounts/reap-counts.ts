import { dayMs, iso, type Scope } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import { type Index, keyOf, type KeyValue } from "../ports/index.ts";
import { background } from "../store/index.ts";
import { deliveryTimesByHour, errorsByDay, usageByHour } from "./rows.ts";

/** How long the counts of an hour and of errors are kept, in milliseconds. */
const keptMs = 92 * dayMs;
/** The number of scopes that one call looks at. Later calls continue, so all get their turn. */
const maxScopes = 500;
/** The number of scopes after which other work may run. */
const scopesAtOnce = 50;

/**
 * Removes old counts by the hour and of errors. Each function removes up to `chunk` rows of one
 * kind and returns how many it removed. Nothing adds to such old counts any more, so none is lost.
 * The counts by day have few rows and are kept.
 *
 * The functions walk from scope to scope along the primary key, whose next column is the time. An
 * index by age would cost each count more, and PostgreSQL's planner would confuse it with the
 * primary key.
 */
export function countReapers({ store, clock }: Runtime, chunk: number): (() => Promise<number>)[] {
  const oldest = (): number => clock.now() - keptMs;
  return [
    reaper(usageByHour, ({ hour }) => hour < oldest(), oldest),
    reaper(deliveryTimesByHour, ({ hour }) => hour < oldest(), oldest),
    reaper(
      errorsByDay,
      ({ day }) => day < dayOf(oldest()),
      () => dayOf(oldest()),
    ),
  ];

  /** The first row of a scope is its oldest. `end` is the time of the oldest row to keep. */
  function reaper<R extends Scope>(
    index: Index<R>,
    isOld: (row: R) => boolean,
    end: () => KeyValue,
  ): () => Promise<number> {
    const order = "ascending";
    const reads = store.unscopedReads;
    /** The last scope that has no old counts left. */
    let passed: { readonly after?: readonly KeyValue[] } = {};
    return async () => {
      const old: R[] = [];
      for (let looked = 1; looked <= maxScopes && old.length < chunk; looked++) {
        const [first] = await reads.range({ index, prefix: [], order, ...passed, limit: 1 });
        if (first === undefined) {
          passed = {};
          break;
        }
        const prefix = [first.account_id, first.mode];
        if (isOld(first)) {
          const [until, limit] = [[end()], chunk - old.length];
          old.push(...(await reads.range({ index, prefix, order, until, limit })));
        }
        if (old.length < chunk) passed = { after: prefix };
        // The reads of an embedded storage do not let other work run.
        if (looked % scopesAtOnce === 0) await store.yieldToEventLoop();
      }
      await remove(index, old);
      return old.length;
    };
  }

  async function remove<R extends object>(
    { collection }: Index<R>,
    old: readonly R[],
  ): Promise<void> {
    if (old.length === 0) return;
    await store.commitUnscoped(async (tx) => {
      for (const found of old) {
        // Another engine may have removed it meanwhile.
        const row = await tx.get(collection.primary, keyOf(collection, found));
        if (row !== undefined) tx.remove(collection, row);
      }
    }, background);
  }
}

const dayOf = (ms: number): string => iso(ms).slice(0, 10);
