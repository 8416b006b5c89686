import type { Index, KeyValue } from "../../../src/ports/collection.ts";
import type { Lookup, Range, Row } from "../../../src/ports/storage.ts";
import { orderOf, storedKey, storedValue, type Stored } from "../layout.ts";
import { type Stretch, stretches } from "../stretches.ts";
import type { Connection } from "./handle.ts";
import { conditionSql, indexedBy, isNullable, quoted, sortColumns, type Table } from "./tables.ts";

/** Without the plus SQLite plans for the very number, anew each time that one is bound, which costs more than most reads. */
const limited = " LIMIT +?";
const skipped = " OFFSET +?";

interface LookupPlan {
  readonly sql: string;
  /** It finds one row at most. */
  readonly point: boolean;
}

/** Reads of one schema's tables; look-ups are worked out once for each index and length of key. */
export class Reads {
  readonly #table: (name: string) => Table;
  readonly #plans = new Map<Index, LookupPlan[]>();

  constructor(table: (name: string) => Table) {
    this.#table = table;
  }

  get(connection: Connection, { index, key, limit }: Lookup): Row[] {
    const { layout } = this.#table(index.collection.name);
    const { sql, point } = this.#plan(index, key.length);
    const query = connection.query(sql);
    if (point) {
      const row = query.get(...storedKey(key));
      return row === undefined || limit < 1 ? [] : [layout.decode(row as Stored[])];
    }
    return (query.all(...storedKey(key), limit) as Stored[][]).map((row) => layout.decode(row));
  }

  range(connection: Connection, range: Range): Row[] {
    const rows: Row[] = [];
    const ways = [...stretches(range)];
    let skip = range.skip ?? 0;
    for (const stretch of ways) {
      const left = range.limit - rows.length;
      if (left <= 0) break;
      // An OFFSET that ends beyond its stretch doesn't tell how much of it is left to the next: then rows are counted here.
      const over = ways.length > 1 ? skip : 0;
      const table = this.#table(range.index.collection.name);
      const { sql, values } = rangeSql(table, {
        ...stretch,
        skip: skip - over,
        limit: left + over,
      });
      const found = connection.query(sql).all(...values) as Stored[][];
      for (const row of found.slice(over)) rows.push(table.layout.decode(row));
      skip = Math.max(0, over - found.length);
    }
    return rows;
  }

  #plan(index: Index, length: number): LookupPlan {
    let plans = this.#plans.get(index);
    if (plans === undefined) this.#plans.set(index, (plans = []));
    return (plans[length] ??= planOf(this.#table(index.collection.name), index, length));
  }
}

/** A full unique key finds one row at most; a null in it, any number. */
function isPoint({ unique, columns, collection }: Index, length: number): boolean {
  return (
    unique && length === columns.length && !columns.some((column) => isNullable(collection, column))
  );
}

function planOf(table: Table, index: Index, length: number): LookupPlan {
  const point = isPoint(index, length);
  const from = `${select(table, index)}${where([...equal(index, length), ...indexCondition(index)])}`;
  return { sql: point ? from : `${from}${orderBy(index, length, "ASC")}${limited}`, point };
}

function rangeSql(table: Table, stretch: Stretch): { sql: string; values: Stored[] } {
  const { index, prefix, order, after, until, present, skip = 0, limit } = stretch;
  const columns = orderOf(index).slice(prefix.length);
  const conditions = [...equal(index, prefix.length), ...indexCondition(index)];
  const values = storedKey(prefix);
  const add = (bound: Condition): void => {
    conditions.push(bound.sql);
    values.push(...bound.values);
  };
  const [column] = columns;
  if (present === true && column !== undefined) conditions.push(`${quoted(column)} IS NOT NULL`);
  const ascending = order === "ascending";
  if (after !== undefined) add(beyond(index, columns, after, ascending ? ">" : "<"));
  if (until !== undefined) add(beyond(index, columns, until, ascending ? "<" : ">"));
  for (const [filtered, wanted] of Object.entries(stretch.where ?? {})) {
    add(among(filtered, isList(wanted) ? wanted : [wanted]));
  }
  values.push(limit, ...(skip > 0 ? [skip] : []));
  const sorted = orderBy(index, prefix.length, ascending ? "ASC" : "DESC");
  const cut = skip > 0 ? `${limited}${skipped}` : limited;
  return { sql: `${select(table, index)}${where(conditions)}${sorted}${cut}`, values };
}

interface Condition {
  readonly sql: string;
  readonly values: readonly Stored[];
}

/** Rows beyond a bound, a tuple of the first columns. The first column's value is not null (`stretches` sees to it). */
function beyond(
  index: Index,
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
): Condition {
  const bounded = columns.slice(0, bound.length);
  const [first = ""] = bounded;
  const values = storedKey(bound);
  if (!bounded.slice(1).some((column) => isNullable(index.collection, column))) {
    return {
      sql: `(${bounded.map(quoted).join(", ")}) ${comparison} (${bounded.map(() => "?").join(", ")})`,
      values,
    };
  }
  const ways = bounded.map((column, i): Condition => {
    const before = bounded.slice(0, i).map((each) => `${quoted(each)} IS ?`);
    const value = values[i] ?? null;
    if (value === null) {
      const any = comparison === ">" ? `${quoted(column)} IS NOT NULL` : "0";
      return { sql: all([...before, any]), values: values.slice(0, i) };
    }
    const passes = `${quoted(column)} ${comparison} ?`;
    return {
      sql: all([
        ...before,
        comparison === ">" ? passes : `(${passes} OR ${quoted(column)} IS NULL)`,
      ]),
      values: values.slice(0, i + 1),
    };
  });
  // The bound on the first column is implied by the rest, and it is what the index can seek by.
  return {
    sql: `${quoted(first)} ${comparison}= ? AND (${ways.map(({ sql }) => sql).join(" OR ")})`,
    values: [values[0] ?? null, ...ways.flatMap((way) => way.values)],
  };
}

/** A filter. The plus keeps it out of the choice of an index: what is walked, and in which order, is settled. */
function among(column: string, wanted: readonly KeyValue[]): Condition {
  const values = wanted.filter((value) => value !== null).map(storedValue);
  const present = `+${quoted(column)} IN (${values.map(() => "?").join(", ")})`;
  return {
    sql: wanted.includes(null) ? `(${present} OR +${quoted(column)} IS NULL)` : present,
    values,
  };
}

function select(table: Table, index: Index): string {
  return `SELECT ${table.layout.columns.map(quoted).join(", ")} FROM ${table.name} ${indexedBy(index)}`;
}

function equal(index: Index, length: number): string[] {
  return orderOf(index)
    .slice(0, length)
    .map((column) => `${quoted(column)} ${isNullable(index.collection, column) ? "IS" : "="} ?`);
}

/** SQLite walks a partial index only for a query that says the same. */
function indexCondition(index: Index): string[] {
  return index.where === undefined ? [] : [conditionSql(index.where)];
}

function orderBy(index: Index, length: number, direction: "ASC" | "DESC"): string {
  const columns = sortColumns(index).slice(length);
  if (columns.length === 0) return "";
  return ` ORDER BY ${columns.map((column) => `${quoted(column)} ${direction}`).join(", ")}`;
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

function all(conditions: readonly string[]): string {
  return `(${conditions.join(" AND ")})`;
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
