import { dayMs, utcDay, type Scope } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { Index, KeyValue } from "../../ports/index.ts";
import { background, reread, type Store } from "../../store/index.ts";
import { deliveryTimesByHour, errorsByDay, usageByHour } from "./rows.ts";

/** How long the counts of an hour and of errors are kept, in milliseconds. */
const keptMs = 92 * dayMs;
/** The number of scopes that one call looks at. Later calls continue, until all are looked at. */
const maxScopes = 500;
/** The number of scopes after which other work may run. */
const scopesAtOnce = 50;

/**
 * Removes old counts by the hour and of errors. Each function removes up to `chunk` rows of one
 * kind and returns how many it removed. Nothing adds to such old counts any more, so none is lost.
 * The counts by day have few rows and are kept.
 */
export function countReapers({ store, clock }: Runtime, chunk: number): (() => Promise<number>)[] {
  const oldest = (): number => clock.now() - keptMs;
  const oldestDay = (): string => utcDay(oldest());
  return [
    countReaper(store, chunk, { index: usageByHour, timeOf: ({ hour }) => hour, oldest }),
    countReaper(store, chunk, { index: deliveryTimesByHour, timeOf: ({ hour }) => hour, oldest }),
    countReaper(store, chunk, { index: errorsByDay, timeOf: ({ day }) => day, oldest: oldestDay }),
  ];
}

/** One kind of counts. */
interface Counts<R extends Scope, T> {
  /** The primary key: the scope, and then the time. */
  readonly index: Index<R>;
  readonly timeOf: (count: R) => T;
  /** Returns the oldest time whose counts are kept. */
  readonly oldest: () => T;
}

/**
 * Returns a function that removes old counts of one kind. It walks from scope to scope along the
 * primary key: the first count of a scope is its oldest. An index by age would cost each count
 * more, and PostgreSQL's planner would confuse it with the primary key.
 */
function countReaper<R extends Scope, T extends number | string>(
  store: Store,
  chunk: number,
  { index, timeOf, oldest }: Counts<R, T>,
): () => Promise<number> {
  const { collection } = index;
  const reads = store.unscopedReads;
  /** The last scope that has no old counts left. */
  let passed: { readonly after?: readonly KeyValue[] } = {};

  const find = async (): Promise<readonly R[]> => {
    const old: R[] = [];
    const oldestKept = oldest();
    for (let looked = 1; looked <= maxScopes && old.length < chunk; looked++) {
      const next = { index, prefix: [], order: "ascending", limit: 1 } as const;
      const [first] = await reads.range({ ...next, ...passed });
      if (first === undefined) {
        passed = {};
        break;
      }
      const scope = [first.account_id, first.mode];
      if (timeOf(first) < oldestKept) {
        const range = { index, prefix: scope, order: "ascending", until: [oldestKept] } as const;
        old.push(...(await reads.range({ ...range, limit: chunk - old.length })));
      }
      if (old.length < chunk) passed = { after: scope };
      // The reads of an embedded storage do not let other work run.
      if (looked % scopesAtOnce === 0) await store.yieldToEventLoop();
    }
    return old;
  };

  return async () => {
    const old = await find();
    if (old.length === 0) return 0;
    await store.commitUnscoped(async (tx) => {
      // Another engine may have removed some meanwhile.
      for (const row of await reread(tx, collection.primary, old)) tx.remove(collection, row);
    }, background);
    return old.length;
  };
}
