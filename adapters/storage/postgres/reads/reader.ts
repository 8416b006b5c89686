import type { Index, Lookup, Range, Reader, Row, Search } from "../../../../src/ports/index.ts";
import type { Result, Statement } from "../connections/statement.ts";
import type { StorageContext } from "../context.ts";
import { asUnavailable } from "../errors.ts";
import { searchStatement } from "../tables/word-index.ts";
import { planSettings, searchSettings } from "../transactions/settings.ts";
import { addPendingCounts, findPendingCounts } from "../writes/pending-counts.ts";
import { assignPositions, unplacedRows } from "../writes/positions.ts";
import { planLookups } from "./lookups.ts";
import { rangeStatement } from "./ranges.ts";

/** Reads committed rows on connections of the pool. */
export class PostgresReader implements Reader {
  readonly #context: () => StorageContext;

  constructor(context: () => StorageContext) {
    this.#context = context;
  }

  async get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    const { statements, toRows } = planLookups(lookups, this.#context().tableOf);
    return toRows(await this.#read(lookups, statements));
  }

  async range(range: Range): Promise<readonly Row[]> {
    const { rows, hasUnplaced } = await this.#range(range);
    // Rows without a position come last.
    if (!hasUnplaced || (range.order === "ascending" && rows.length >= range.limit)) return rows;
    const { pool, names, tableOf } = this.#context();
    const log = tableOf(range.index.collection);
    // A read-only database can still be read up to the rows without positions.
    await assignPositions(pool, names, log).catch(() => {});
    return (await this.#range(range)).rows;
  }

  async search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]> {
    const { tableOf } = this.#context();
    const planned = searches.map((search) => ({
      search,
      table: tableOf(search.index.collection),
    }));
    const statements = planned.map(({ search, table }) => searchStatement(search, table));
    const [, ...found] = await this.#run([searchSettings, ...statements]);
    return planned.map(({ table }, i) =>
      (found[i]?.rows ?? []).map((values) => table.decode(values)),
    );
  }

  /**
   * `hasUnplaced` means that the range is in a log's order, and that some of the log's rows have no
   * position yet.
   */
  async #range(
    range: Range,
  ): Promise<{ readonly rows: readonly Row[]; readonly hasUnplaced: boolean }> {
    const { index, limit } = range;
    const table = this.#context().tableOf(index.collection);
    const planned = rangeStatement(range, table);
    if (planned === undefined) return { rows: [], hasUnplaced: false };
    const { position } = table.layout;
    // This runs before the range, so that a row that gets its position in between is in the range.
    const checks =
      position !== undefined && index.columns.includes(position) ? [unplacedRows(table)] : [];
    const results = await this.#read([range], [...checks, planned.statement]);
    const rows = (results.at(-1)?.rows ?? [])
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .slice(planned.toSkip, planned.toSkip + limit)
      .map(([, ...values]) => table.decode(values));
    return { rows, hasUnplaced: results.slice(0, -1).some((check) => check.rows.length > 0) };
  }

  /** Runs the statements that read indexes. Counters are complete before they are read. */
  async #read(
    reads: readonly { readonly index: Index }[],
    statements: readonly Statement[],
  ): Promise<readonly Result[]> {
    const context = this.#context();
    if (reads.some(({ index }) => index.collection.kind === "counter")) {
      // An addition that is moved to its counter in between is in the counter when it is read.
      const check = findPendingCounts(context.names);
      const [, pending, ...results] = await this.#run([planSettings, check, ...statements]);
      if (pending?.rows.length === 0) return results;
      // A read-only database can still be read without the additions that wait.
      await addPendingCounts(context).catch(() => {});
    }
    const [, ...results] = await this.#run([planSettings, ...statements]);
    return results;
  }

  #run(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#context().pool.atomic(statements).catch(asUnavailable);
  }
}
