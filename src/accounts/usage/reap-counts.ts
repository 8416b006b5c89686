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
  const reapers = [
    new CountReaper(store, usageByHour, ({ hour }) => hour, oldest),
    new CountReaper(store, deliveryTimesByHour, ({ hour }) => hour, oldest),
    new CountReaper(store, errorsByDay, ({ day }) => day, oldestDay),
  ];
  return reapers.map((reaper) => () => reaper.removeChunk(chunk));
}

/**
 * Removes old counts of one kind. Walks from scope to scope along the primary key, whose next
 * column is the time: the first count of a scope is its oldest. An index by age would cost each
 * count more, and PostgreSQL's planner would confuse it with the primary key.
 */
class CountReaper<R extends Scope, T extends number | string> {
  readonly #store: Store;
  readonly #index: Index<R>;
  readonly #timeOf: (count: R) => T;
  readonly #oldestKept: () => T;
  /** The last scope that has no old counts left. */
  #passed: { readonly after?: readonly KeyValue[] } = {};

  constructor(store: Store, index: Index<R>, timeOf: (count: R) => T, oldestKept: () => T) {
    this.#store = store;
    this.#index = index;
    this.#timeOf = timeOf;
    this.#oldestKept = oldestKept;
  }

  async removeChunk(chunk: number): Promise<number> {
    const old = await this.#find(chunk);
    if (old.length === 0) return 0;
    const { collection } = this.#index;
    await this.#store.commitUnscoped(async (tx) => {
      // Another engine may have removed some meanwhile.
      for (const row of await reread(tx, collection.primary, old)) tx.remove(collection, row);
    }, background);
    return old.length;
  }

  async #find(chunk: number): Promise<readonly R[]> {
    const old: R[] = [];
    for (let looked = 1; looked <= maxScopes && old.length < chunk; looked++) {
      const first = await this.#firstBeyond();
      if (first === undefined) {
        this.#passed = {};
        break;
      }
      old.push(...(await this.#oldOf(first, chunk - old.length)));
      if (old.length < chunk) this.#passed = { after: [first.account_id, first.mode] };
      // The reads of an embedded storage do not let other work run.
      if (looked % scopesAtOnce === 0) await this.#store.yieldToEventLoop();
    }
    return old;
  }

  /** Returns the oldest count of the next scope. */
  async #firstBeyond(): Promise<R | undefined> {
    const range = { index: this.#index, prefix: [], order: "ascending", limit: 1 } as const;
    const [first] = await this.#store.unscopedReads.range({ ...range, ...this.#passed });
    return first;
  }

  /** Returns the old counts of the scope whose oldest count is `first`. */
  async #oldOf(first: R, limit: number): Promise<readonly R[]> {
    const oldestKept = this.#oldestKept();
    if (this.#timeOf(first) >= oldestKept) return [];
    return this.#store.unscopedReads.range({
      index: this.#index,
      prefix: [first.account_id, first.mode],
      order: "ascending",
      until: [oldestKept],
      limit,
    });
  }
}
