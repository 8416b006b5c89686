import {
  type Index,
  type Lookup,
  orderOf,
  type Range,
  type Reader,
  type Row,
  type Search,
} from "../../../src/ports/index.ts";
import type { Result, Statement } from "./batch.ts";
import { rangeStatement, scanConditions, scanOrder, whereClause } from "./ranges.ts";
import { addPendingCounts, findPendingCounts } from "./pending-counts.ts";
import type { StorageContext } from "./pool.ts";
import { assignPositions, unplacedRows } from "./positions.ts";
import { planSettings, searchSettings } from "./settings.ts";
import { type Table, typeOf } from "./tables.ts";
import { arrayText, keyText, sqlTypes } from "./values.ts";
import { searchStatement } from "./word-index.ts";

/** Reads committed rows on connections of the pool. */
export class PostgresReader implements Reader {
  readonly #context: () => StorageContext;

  constructor(context: () => StorageContext) {
    this.#context = context;
  }

  async get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    const { statements, rows } = planLookups(lookups, this.#context().table);
    return rows(await this.#read(lookups, statements));
  }

  async range(range: Range): Promise<readonly Row[]> {
    const { rows, unplaced } = await this.#range(range);
    // Rows without a position come last.
    if (!unplaced || (range.order === "ascending" && rows.length >= range.limit)) return rows;
    const { pool, names, table } = this.#context();
    const log = table(range.index.collection.name);
    // A read-only database can still be read up to the rows without positions.
    await assignPositions(pool, names, log).catch(() => {});
    return (await this.#range(range)).rows;
  }

  async search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]> {
    const { pool, table: tableOf } = this.#context();
    const planned = searches.map((search) => ({
      search,
      table: tableOf(search.index.collection.name),
    }));
    const statements = planned.map(({ search, table }) => searchStatement(search, table));
    const [, ...found] = await pool.atomic([searchSettings, ...statements]);
    return planned.map(({ table }, i) =>
      (found[i]?.rows ?? []).map((values) => table.decode(values)),
    );
  }

  /**
   * `unplaced` means that the range is in a log's order, and that some of the log's rows have no
   * position yet.
   */
  async #range(
    range: Range,
  ): Promise<{ readonly rows: readonly Row[]; readonly unplaced: boolean }> {
    const { index, limit } = range;
    const table = this.#context().table(index.collection.name);
    const planned = rangeStatement(range, table);
    if (planned === undefined) return { rows: [], unplaced: false };
    const { position } = table.layout;
    // This runs before the range, so that a row that gets its position in between is in the range.
    const checks =
      position !== undefined && index.columns.includes(position) ? [unplacedRows(table)] : [];
    const results = await this.#read([range], [...checks, planned.statement]);
    const rows = (results.at(-1)?.rows ?? [])
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .slice(planned.toSkip, planned.toSkip + limit)
      .map(([, ...values]) => table.decode(values));
    return { rows, unplaced: results.slice(0, -1).some((check) => check.rows.length > 0) };
  }

  /** Runs the statements that read indexes. Counters are complete before they are read. */
  async #read(
    reads: readonly { readonly index: Index }[],
    statements: readonly Statement[],
  ): Promise<readonly Result[]> {
    const context = this.#context();
    const { pool, names } = context;
    if (reads.some(({ index }) => index.collection.kind === "counter")) {
      // An addition that is moved to its counter in between is in the counter when it is read.
      const check = findPendingCounts(names);
      const [, pending, ...results] = await pool.atomic([planSettings, check, ...statements]);
      if (pending?.rows.length === 0) return results;
      // A read-only database can still be read without the additions that wait.
      await addPendingCounts(context).catch(() => {});
    }
    const [, ...results] = await pool.atomic([planSettings, ...statements]);
    return results;
  }
}

/** Look-ups that one statement can answer. */
interface LookupGroup {
  readonly index: Index;
  /** The length of the given key, and which of its parts are null. `=` never finds a null. */
  readonly nulls: readonly boolean[];
  readonly lock: boolean;
  readonly lookups: { readonly lookup: Lookup; readonly place: number }[];
}

/** The statements for some look-ups: one for each index and form of key. */
export interface PlannedLookups {
  readonly statements: readonly Statement[];
  /** Converts the statements' results to one list of rows for each look-up, in order. */
  readonly rows: (results: readonly Result[]) => Row[][];
}

/** Plans look-ups. */
export function planLookups(
  lookups: readonly Lookup[],
  tableOf: (name: string) => Table,
): PlannedLookups {
  const groups = groupLookups(lookups);
  return {
    statements: groups.map((group) => lookupStatement(group, tableOf(group.index.collection.name))),
    rows: (results) => {
      const found: Row[][] = lookups.map(() => []);
      for (const [i, { index, lookups: members }] of groups.entries()) {
        const table = tableOf(index.collection.name);
        for (const row of results[i]?.rows ?? []) {
          const place = members[Number(row[0]) - 1]?.place;
          if (place !== undefined) found[place]?.push(table.decode(row, 1));
        }
      }
      return found;
    },
  };
}

function groupLookups(lookups: readonly Lookup[]): LookupGroup[] {
  const byIndex = new Map<Index, Map<string, LookupGroup>>();
  for (const [place, lookup] of lookups.entries()) {
    const { index, key, lock = false } = lookup;
    let byForm = byIndex.get(index);
    if (byForm === undefined) byIndex.set(index, (byForm = new Map<string, LookupGroup>()));
    const nulls = key.map((value) => value === null);
    const form = `${lock} ${nulls.join()}`;
    let group = byForm.get(form);
    if (group === undefined) byForm.set(form, (group = { index, nulls, lock, lookups: [] }));
    group.lookups.push({ lookup, place });
  }
  const groups = [...byIndex.values()].flatMap((byForm) => [...byForm.values()]);
  // Locks come first. The other statements then see what the last holder of a lock has committed.
  return groups.toSorted((a, b) => Number(b.lock) - Number(a.lock));
}

/**
 * Returns a statement that looks up each key on its own, in order. The LIMIT of the inner query
 * excludes every other way to join.
 */
function lookupStatement({ index, nulls, lock, lookups }: LookupGroup, table: Table): Statement {
  const order = orderOf(index);
  const given = nulls.map((isNull, i) => ({
    isNull,
    sql: `wanted.k${i}`,
    type: typeOf(index.collection, order[i] ?? ""),
  }));
  const parts = given.flatMap(({ isNull, sql, type }, place) =>
    isNull ? [] : [{ sql, type, place }],
  );
  const params = parts.map(({ type }, i) => `$${i + 1}::${sqlTypes[type]}[]`);
  const maxRows = `$${params.length + 1}::bigint[]`;
  const names = parts.map(({ place }) => `k${place}`);
  const conditions = whereClause(scanConditions(index, table, given));
  const rows = `${conditions}${scanOrder(index, given, "ASC")}`;
  const text =
    `SELECT wanted.n, found.* FROM unnest(${[...params, maxRows].join(", ")}) ` +
    `WITH ORDINALITY AS wanted(${[...names, "max_rows", "n"].join(", ")}) ` +
    `CROSS JOIN LATERAL (SELECT ${table.selected} FROM ${table.name}${rows} ` +
    `LIMIT wanted.max_rows${lock ? " FOR UPDATE SKIP LOCKED" : ""}) AS found`;
  const requested = lookups.map(({ lookup }) => lookup);
  return {
    text,
    values: [
      ...parts.map(({ type, place }) =>
        arrayText(
          type,
          requested.map(({ key }) => keyText(key[place] ?? null)),
        ),
      ),
      arrayText(
        "integer",
        requested.map(({ limit }) => String(limit)),
      ),
    ],
  };
}
