/**
 * Plans a group's writes as a batch of statements: one for each table and kind of write, however
 * many rows there are.
 *
 * First, all rows that other groups may write are locked and their version guards checked. Queues
 * come first, since a look-up may have locked their rows before the commit. Then come the other
 * tables in the order of their names, and in each table the rows in the order of their keys. So
 * groups do not deadlock. Then come removals, updates and insertions, because what frees a unique
 * key has to precede what takes it. Counters and logs, which every group writes, come last.
 */
import { getOrInsert } from "../../../../src/kernel/index.ts";
import {
  columnsOf,
  keyOf,
  type KeyValue,
  type Row,
  type Write,
} from "../../../../src/ports/index.ts";
import type { TableOf } from "../../make-tables.ts";
import { literal, quoted } from "../../sql.ts";
import type { Statement } from "../connections/statement.ts";
import { conflictMark } from "../errors.ts";
import type { Names } from "../names.ts";
import { keyScan } from "../reads/index-scan.ts";
import type { Table } from "../tables/tables.ts";
import { arrayText, keyText, sqlTypes, type Text } from "../tables/values.ts";

type Guarded = Extract<Write, { readonly version: number }>;
type Update = Extract<Write, { readonly kind: "update" }>;

/** A group's writes to one table. */
interface TableWrites {
  readonly table: Table;
  readonly guarded: Guarded[];
  readonly removals: Guarded[];
  readonly updates: Update[];
  readonly insertions: Row[];
  readonly sums: Row[];
}

/**
 * The statements in two parts, so that the caller can add statements in between. A part may be
 * empty.
 */
export interface PlannedWrites {
  readonly rows: readonly Statement[];
  /** Insertions into logs, which assign positions. */
  readonly logs: readonly Statement[];
}

/**
 * How to write to logs and counters, which almost every transaction writes to. A group of the
 * engine commits at once, so it may take locks that others wait for. A transaction of the host
 * application may stay open for long, so it must not.
 */
export interface ContendedWrites {
  /** The SQL expression for the position of a log's row. */
  readonly position: string;
  /** Returns the statements that come before the insertion of rows into a log. */
  readonly beforeLog: (table: Table) => readonly Statement[];
  /** Returns the statement that adds to rows of a counter. */
  readonly add: (table: Table, rows: readonly Row[]) => Statement;
}

/**
 * Plans writes.
 * @throws StorageRefusal when a value does not fit its column
 */
export function planWrites(
  writes: readonly Write[],
  tableOf: TableOf<Table>,
  { position, beforeLog, add }: ContendedWrites,
): PlannedWrites {
  const tables = groupByTable(writes, tableOf);
  const forEachTable = (statement: (writes: TableWrites) => Statement | undefined): Statement[] =>
    tables.map(statement).filter((each) => each !== undefined);
  return {
    rows: [
      ...forEachTable(guardStatement),
      ...forEachTable(removeStatement),
      ...forEachTable(updateStatement),
      ...forEachTable(insertStatement),
      ...forEachTable(({ table, sums }) => (sums.length === 0 ? undefined : add(table, sums))),
    ],
    logs: tables
      .filter(({ table, insertions }) => isLog(table) && insertions.length > 0)
      .flatMap(({ table, insertions }) => [
        ...beforeLog(table),
        insertRows(table, insertions, position),
      ]),
  };
}

const isQueue = ({ collection }: Table): boolean => collection.kind === "queue";
const isLog = ({ layout }: Table): boolean => layout.position !== undefined;

function groupByTable(writes: readonly Write[], tableOf: TableOf<Table>): TableWrites[] {
  const tables = new Map<string, TableWrites>();
  for (const write of writes) {
    const { collection } = write;
    const group = getOrInsert(tables, collection.name, () => ({
      table: tableOf(collection),
      guarded: [],
      removals: [],
      updates: [],
      insertions: [],
      sums: [],
    }));
    if ("version" in write) group.guarded.push(write);
    if (write.kind === "insert") group.insertions.push(write.row);
    else if (write.kind === "add") group.sums.push(write.row);
    else if (write.kind === "remove") group.removals.push(write);
    else if (write.kind === "update") group.updates.push(write);
  }
  return [...tables.values()].toSorted(
    ({ table: a }, { table: b }) => Number(isQueue(b)) - Number(isQueue(a)) || byName(a, b),
  );
}

/** The order in which tables are written, apart from queues. */
export const byName = (a: Table, b: Table): number => (a.name < b.name ? -1 : 1);

/**
 * Locks the rows to be written or held, in the order of their keys. Fails unless all of them exist
 * and have the version that was read. Counters have no versions.
 */
function guardStatement({ table, guarded }: TableWrites): Statement | undefined {
  if (guarded.length === 0) return undefined;
  const sorted = guarded
    .map((write) => ({ write, key: write.key.map((part) => keyText(part) ?? "") }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ write }) => write);
  const key = keyParams(table, sorted);
  const { versioned } = table.layout;
  const params = versioned ? [...key.params, `$${key.params.length + 1}::bigint[]`] : key.params;
  const names = versioned ? [...key.names, "v"] : key.names;
  // Several groups can hold the same row.
  const lock = guarded.every(({ kind }) => kind === "hold") ? "FOR SHARE" : "FOR NO KEY UPDATE";
  const rowScan = keyScan(table, table.collection, versioned ? [`"version" = seen.v`] : []);
  const text =
    `SELECT CASE WHEN count(*) = cardinality(${params.at(-1)}) THEN 1 ` +
    `ELSE (${literal(`${conflictMark} ${table.collection.name} `)} || count(*))::integer END ` +
    `FROM (SELECT FROM unnest(${params.join(", ")}) AS seen(${names.join(", ")}) ` +
    `CROSS JOIN LATERAL (SELECT ${rowScan} ${lock}) AS locked) AS held`;
  return { text, values: versioned ? [...key.values, versions(sorted)] : key.values };
}

/** Finds the row of each key by its physical place. The row is locked, so it stays there. */
function joinRows(table: Table): string {
  return (
    `CROSS JOIN LATERAL (SELECT ctid AS place ${keyScan(table, table.collection)}) AS found ` +
    `WHERE t.ctid = found.place`
  );
}

function removeStatement({ table, removals }: TableWrites): Statement | undefined {
  if (removals.length === 0) return undefined;
  const key = keyParams(table, removals);
  const text =
    `DELETE FROM ${table.name} AS t USING unnest(${key.params.join(", ")}) ` +
    `AS seen(${key.names.join(", ")}) ${joinRows(table)}`;
  return { text, values: key.values };
}

/**
 * Updates all rows in one statement, with every column that changes in any of them. A guarded row's
 * other columns are unchanged, so writing them again has no effect. Rows are updated in the given
 * order, because one may take a unique key that an earlier one frees.
 */
function updateStatement({ table, updates }: TableWrites): Statement | undefined {
  if (updates.length === 0) return undefined;
  const changed = new Set(updates.flatMap((write) => write.changed));
  const columns = [
    ...table.layout.columns.filter((column) => changed.has(column) && column !== "version"),
    "version",
  ];
  const key = keyParams(table, updates);
  const params = columns.map(
    (column, i) => `$${key.params.length + i + 1}::${sqlTypes[table.type(column)]}[]`,
  );
  const names = columns.map((_, i) => `c${i}`);
  const assignments = columns.map((column, i) => `${quoted(column)} = seen.c${i}`);
  const text =
    `UPDATE ${table.name} AS t SET ${assignments.join(", ")} ` +
    `FROM unnest(${[...key.params, ...params].join(", ")}) ` +
    `AS seen(${[...key.names, ...names].join(", ")}) ${joinRows(table)}`;
  const rows = updates.map(({ row }) => row);
  return {
    text,
    values: [...key.values, ...columns.map((column) => table.columnText(column, rows))],
  };
}

/** Inserts rows into a table that is not a log. */
function insertStatement({ table, insertions }: TableWrites): Statement | undefined {
  if (isLog(table) || insertions.length === 0) return undefined;
  return insertRows(table, sortByKey(table, insertions));
}

/**
 * Returns the statement that adds to rows of a counter. They are sorted by key, because many groups
 * add to the same few counters.
 */
export function addStatement(table: Table, sums: readonly Row[]): Statement {
  const { text, values } = insertRows(table, sortByKey(table, sums));
  return { text: `${text} ${onConflictAdd(table)}`, values };
}

/** Returns the end of an INSERT INTO a counter `AS t`, which adds to rows that exist. */
export function onConflictAdd({ collection }: Table): string {
  const { columns: key } = collection.primary;
  const added = columnsOf(collection)
    .map(([column]) => column)
    .filter((column) => !key.includes(column))
    .map((column) => `${quoted(column)} = t.${quoted(column)} + excluded.${quoted(column)}`);
  return `ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${added.join(", ")}`;
}

/** `position` is the SQL expression for the position of a log's row. */
function insertRows(table: Table, rows: readonly Row[], position = "0"): Statement {
  const { columns, position: positionColumn } = table.layout;
  const given = columns.filter((column) => column !== positionColumn);
  const params = given.map((column, i) => `$${i + 1}::${sqlTypes[table.type(column)]}[]`);
  const names = given.map((_, i) => `c${i}`);
  const selected = positionColumn === undefined ? names : [...names, position];
  const into = positionColumn === undefined ? given : [...given, positionColumn];
  const text =
    `INSERT INTO ${table.name} AS t (${into.map(quoted).join(", ")}) ` +
    `SELECT ${selected.join(", ")} FROM unnest(${params.join(", ")}) AS row(${names.join(", ")})`;
  return { text, values: given.map((column) => table.columnText(column, rows)) };
}

/** The SQL expression for the next position. The transaction has to hold the position lock. */
export const nextPosition = ({ positions }: Names): string =>
  `nextval(${literal(positions)}::regclass)`;

interface KeyParams {
  readonly params: readonly string[];
  readonly names: readonly string[];
  readonly values: readonly Text[];
}

function keyParams(
  table: Table,
  writes: readonly { readonly key: readonly KeyValue[] }[],
): KeyParams {
  const { columns } = table.collection.primary;
  const types = columns.map((column) => table.type(column));
  return {
    params: types.map((type, i) => `$${i + 1}::${sqlTypes[type]}[]`),
    names: columns.map((_, i) => `k${i}`),
    values: types.map((type, i) =>
      arrayText(
        type,
        writes.map(({ key }) => keyText(key[i] ?? null)),
      ),
    ),
  };
}

function versions(writes: readonly Guarded[]): string {
  return arrayText(
    "integer",
    writes.map(({ version }) => String(version)),
  );
}

function sortByKey({ collection }: Table, rows: readonly Row[]): Row[] {
  if (rows.length === 1) return [...rows];
  return rows
    .map((row) => ({ row, key: keyOf(collection, row).map((part) => keyText(part) ?? "") }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ row }) => row);
}

/** Any order that all processes share will do. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const [left, right] = [a[i] ?? "", b[i] ?? ""];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
