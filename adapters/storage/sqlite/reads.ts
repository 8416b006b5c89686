import {
  type Index,
  type KeyValue,
  type Lookup,
  orderOf,
  type Range,
  type Row,
} from "../../../src/ports/index.ts";
import { isNullable, type Stored, storedKey, storedValue } from "../layout.ts";
import { acceptedValues, type RangePart, splitAtNulls } from "../range-parts.ts";
import { conditionSql, quoted } from "../sql.ts";
import { type Connection, rollBack } from "./connection.ts";
import { indexedBy, sortColumns, type Table } from "./tables.ts";

/**
 * The plus keeps SQLite from planning for the bound number. It would plan again for each number,
 * which takes longer than most reads.
 */
const limitSql = " LIMIT +?";
const offsetSql = " OFFSET +?";

interface LookupPlan {
  readonly sql: string;
  /** Whether it finds at most one row. */
  readonly isPoint: boolean;
}

/**
 * Reads from the tables of one schema. The SQL of a look-up is built once for each index and key
 * length.
 */
export class Reads {
  readonly #table: (name: string) => Table;
  readonly #plans = new Map<Index, LookupPlan[]>();

  constructor(table: (name: string) => Table) {
    this.#table = table;
  }

  get(connection: Connection, { index, key, limit }: Lookup): Row[] {
    const { layout } = this.#table(index.collection.name);
    const { sql, isPoint } = this.#plan(index, key.length);
    const query = connection.query(sql);
    if (isPoint) {
      const row = query.get(...storedKey(key));
      return row === undefined || limit < 1 ? [] : [layout.decode(row as Stored[])];
    }
    return (query.all(...storedKey(key), limit) as Stored[][]).map((row) => layout.decode(row));
  }

  range(connection: Connection, range: Range): Row[] {
    const parts = [...splitAtNulls(range)];
    if (parts.length < 2) return this.#parts(connection, range, parts);
    // One transaction, so that a row that moves from one part to another is read exactly once.
    connection.handle.exec("BEGIN");
    try {
      return this.#parts(connection, range, parts);
    } finally {
      rollBack(connection.handle);
    }
  }

  #parts(connection: Connection, range: Range, parts: readonly RangePart[]): Row[] {
    const table = this.#table(range.index.collection.name);
    const rows: Row[] = [];
    let skip = range.skip ?? 0;
    for (const part of parts) {
      const left = range.limit - rows.length;
      if (left <= 0) break;
      // With several parts, rows are skipped here. An OFFSET past the end of a part would not tell
      // how many rows are left to skip in the next one.
      const skipHere = parts.length > 1 ? skip : 0;
      const { sql, values } = rangeSql(table, {
        ...part,
        skip: skip - skipHere,
        limit: left + skipHere,
      });
      const found = connection.query(sql).all(...values) as Stored[][];
      for (const row of found.slice(skipHere)) rows.push(table.layout.decode(row));
      skip = Math.max(0, skipHere - found.length);
    }
    return rows;
  }

  #plan(index: Index, length: number): LookupPlan {
    let plans = this.#plans.get(index);
    if (plans === undefined) this.#plans.set(index, (plans = []));
    return (plans[length] ??= planOf(this.#table(index.collection.name), index, length));
  }
}

/** A complete unique key finds at most one row, unless the key can hold a null. */
function findsOneRow({ unique, columns, collection }: Index, length: number): boolean {
  return (
    unique && length === columns.length && !columns.some((column) => isNullable(collection, column))
  );
}

function planOf(table: Table, index: Index, length: number): LookupPlan {
  const isPoint = findsOneRow(index, length);
  const conditions = [...equal(index, length), ...indexCondition(index)];
  const from = `${select(table, index)}${where(conditions)}`;
  return { sql: isPoint ? from : `${from}${orderBy(index, length, "ASC")}${limitSql}`, isPoint };
}

function rangeSql(table: Table, part: RangePart): { sql: string; values: Stored[] } {
  const { index, prefix, order, after, until, notNull, skip = 0, limit } = part;
  const columns = orderOf(index).slice(prefix.length);
  const conditions = [...equal(index, prefix.length), ...indexCondition(index)];
  const values = storedKey(prefix);
  const add = (condition: Condition): void => {
    conditions.push(condition.sql);
    values.push(...condition.values);
  };
  const [column] = columns;
  if (notNull === true && column !== undefined) conditions.push(`${quoted(column)} IS NOT NULL`);
  const ascending = order === "ascending";
  if (after !== undefined) add(beyond(index, columns, after, ascending ? ">" : "<"));
  if (until !== undefined) add(beyond(index, columns, until, ascending ? "<" : ">"));
  for (const [filtered, filter] of Object.entries(part.where ?? {})) {
    add(isOneOf(filtered, acceptedValues(filter)));
  }
  values.push(limit, ...(skip > 0 ? [skip] : []));
  const sorted = orderBy(index, prefix.length, ascending ? "ASC" : "DESC");
  const limitClause = skip > 0 ? `${limitSql}${offsetSql}` : limitSql;
  return { sql: `${select(table, index)}${where(conditions)}${sorted}${limitClause}`, values };
}

interface Condition {
  readonly sql: string;
  readonly values: readonly Stored[];
}

/**
 * Returns the condition for rows beyond a bound, which is a tuple of the first columns. The first
 * value of the bound is not null, because `splitAtNulls` removed nulls.
 */
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
    const places = bounded.map(() => "?").join(", ");
    return { sql: `(${bounded.map(quoted).join(", ")}) ${comparison} (${places})`, values };
  }
  const cases = bounded.map((column, i): Condition => {
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
  // The cases imply the bound on the first column, but only this form lets the index seek.
  return {
    sql: `${quoted(first)} ${comparison}= ? AND (${cases.map(({ sql }) => sql).join(" OR ")})`,
    values: [values[0] ?? null, ...cases.flatMap((each) => each.values)],
  };
}

/**
 * Returns a filter. The plus keeps the column out of the choice of an index, because the index and
 * the order are given.
 */
function isOneOf(column: string, wanted: readonly KeyValue[]): Condition {
  const values = wanted.filter((value) => value !== null).map(storedValue);
  const present = `+${quoted(column)} IN (${values.map(() => "?").join(", ")})`;
  return {
    sql: wanted.includes(null) ? `(${present} OR +${quoted(column)} IS NULL)` : present,
    values,
  };
}

function select(table: Table, index: Index): string {
  const columns = table.layout.columns.map(quoted).join(", ");
  return `SELECT ${columns} FROM ${table.name} ${indexedBy(index)}`;
}

function equal(index: Index, length: number): string[] {
  return orderOf(index)
    .slice(0, length)
    .map((column) => `${quoted(column)} ${isNullable(index.collection, column) ? "IS" : "="} ?`);
}

/** SQLite uses a partial index only for a query that repeats its condition. */
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
