import {
  orderOf,
  type Index,
  type KeyValue,
  type Lookup,
  type Range,
  type Row,
} from "../../../../src/ports/index.ts";
import { sortColumns } from "../../index-order.ts";
import { isNullable, storedKey, storedValue, type Stored } from "../../layout.ts";
import type { TableOf } from "../../make-tables.ts";
import {
  acceptedValues,
  beyondNullable,
  canCompareTuples,
  splitAtNulls,
  type Param,
  type RangePart,
} from "../../range-parts.ts";
import { columnList, conditionSql, quoted, whereClause } from "../../sql.ts";
import { rollBack, type Connection } from "../connections/connection.ts";
import { indexedBy, type Table } from "../tables/tables.ts";

/**
 * The plus keeps SQLite from planning for the bound number. It would plan again for each number,
 * which takes longer than most reads.
 */
const limitSql = " LIMIT +?";
const offsetSql = " OFFSET +?";

type Order = Range["order"];

interface LookupPlan {
  readonly sql: string;
  /** Whether it finds at most one row. */
  readonly isPoint: boolean;
}

/**
 * Reads from the tables of one schema. The SQL of a look-up is built once for each index, key
 * length and order.
 */
export class Reads {
  readonly #tableOf: TableOf<Table>;
  readonly #plans: { readonly [O in Order]: Map<Index, LookupPlan[]> } = {
    ascending: new Map(),
    descending: new Map(),
  };

  constructor(tableOf: TableOf<Table>) {
    this.#tableOf = tableOf;
  }

  get(connection: Connection, { index, key, limit, order = "ascending" }: Lookup): Row[] {
    const { layout } = this.#tableOf(index.collection);
    const { sql, isPoint } = this.#plan(index, key.length, order);
    const query = connection.statement(sql);
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
    const table = this.#tableOf(range.index.collection);
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
      const found = connection.statement(sql).all(...values) as Stored[][];
      for (const row of found.slice(skipHere)) rows.push(table.layout.decode(row));
      skip = Math.max(0, skipHere - found.length);
    }
    return rows;
  }

  #plan(index: Index, length: number, order: Order): LookupPlan {
    const byIndex = this.#plans[order];
    let plans = byIndex.get(index);
    if (plans === undefined) byIndex.set(index, (plans = []));
    return (plans[length] ??= planOf(this.#tableOf(index.collection), index, length, order));
  }
}

/** A complete unique key finds at most one row, unless the key can hold a null. */
function findsOneRow({ unique, columns, collection }: Index, length: number): boolean {
  return (
    unique && length === columns.length && !columns.some((column) => isNullable(collection, column))
  );
}

function planOf(table: Table, index: Index, length: number, order: Order): LookupPlan {
  const isPoint = findsOneRow(index, length);
  const conditions = [...equal(index, length), ...indexCondition(index)];
  const from = `${select(table, index)}${whereClause(conditions)}`;
  const sorted = orderBy(index, length, order);
  return { sql: isPoint ? from : `${from}${sorted}${limitSql}`, isPoint };
}

function rangeSql(table: Table, part: RangePart): { sql: string; values: Stored[] } {
  const { index, prefix, order, after, until, notNull, skip = 0, limit } = part;
  const columns = orderOf(index).slice(prefix.length);
  const conditions = [...equal(index, prefix.length), ...indexCondition(index)];
  const values = storedKey(prefix);
  const param = (_: string, value: KeyValue): string => {
    values.push(storedValue(value));
    return "?";
  };
  const [column] = columns;
  if (notNull === true && column !== undefined) conditions.push(`${quoted(column)} IS NOT NULL`);
  const ascending = order === "ascending";
  if (after !== undefined) {
    conditions.push(beyond(index, columns, after, ascending ? ">" : "<", param));
  }
  if (until !== undefined) {
    conditions.push(beyond(index, columns, until, ascending ? "<" : ">", param));
  }
  for (const [filtered, filter] of Object.entries(part.where ?? {})) {
    conditions.push(isOneOf(filtered, acceptedValues(filter), param));
  }
  values.push(limit, ...(skip > 0 ? [skip] : []));
  const sorted = orderBy(index, prefix.length, order);
  const limitClause = skip > 0 ? `${limitSql}${offsetSql}` : limitSql;
  const sql = `${select(table, index)}${whereClause(conditions)}${sorted}${limitClause}`;
  return { sql, values };
}

/** Returns the condition for rows beyond a bound, which is a tuple of the first columns. */
function beyond(
  index: Index,
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
  param: Param,
): string {
  if (!canCompareTuples(index, columns, bound)) {
    return beyondNullable(index, columns, bound, comparison, param);
  }
  const bounded = columns.slice(0, bound.length);
  const places = bounded.map((column, i) => param(column, bound[i] ?? null));
  return `(${columnList(bounded)}) ${comparison} (${places.join(", ")})`;
}

/**
 * Returns a filter. The plus keeps the column out of the choice of an index, because the index and
 * the order are given.
 */
function isOneOf(column: string, wanted: readonly KeyValue[], param: Param): string {
  const places = wanted.filter((value) => value !== null).map((value) => param(column, value));
  const present = `+${quoted(column)} IN (${places.join(", ")})`;
  return wanted.includes(null) ? `(${present} OR +${quoted(column)} IS NULL)` : present;
}

function select(table: Table, index: Index): string {
  return `SELECT ${columnList(table.layout.columns)} FROM ${table.name} ${indexedBy(index)}`;
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

function orderBy(index: Index, length: number, order: Order): string {
  const columns = sortColumns(index).slice(length);
  const direction = order === "ascending" ? "ASC" : "DESC";
  if (columns.length === 0) return "";
  return ` ORDER BY ${columns.map((column) => `${quoted(column)} ${direction}`).join(", ")}`;
}
