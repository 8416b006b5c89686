/**
 * A group's writes as a batch of statements: one for each table and kind of write, whatever the number of rows. All rows that others may
 * write are locked first, those of each table by their keys, tables by their names, so that groups don't wait for each other in a
 * circle; their guards are checked on the way. Then what frees a unique key comes before what takes it: removals, updates,
 * insertions. Counters and logs, which everybody writes, come last.
 */
import { columnsOf, keyOf, type KeyValue } from "../../../src/ports/collection.ts";
import type { Row, Write } from "../../../src/ports/storage.ts";
import { conflictMark } from "./errors.ts";
import { literal, type Names, quoted } from "./names.ts";
import type { Statement } from "./session/batch.ts";
import type { Table } from "./tables.ts";
import { arrayText, keyText, sqlTypes, type Text } from "./values.ts";
import { keyWalk } from "./walks.ts";

type Guarded = Extract<Write, { readonly version: number }>;
type Update = Extract<Write, { readonly kind: "update" }>;

/** What a group writes to one table. */
interface TableWrites {
  readonly table: Table;
  readonly guarded: Guarded[];
  readonly removals: Guarded[];
  readonly updates: Update[];
  readonly insertions: Row[];
  readonly sums: Row[];
}

/** In parts, between which a caller has something to say; a part may be empty. */
export interface PlannedWrites {
  readonly rows: readonly Statement[];
  /** Insertions into logs: their positions are given as they are made. */
  readonly logs: readonly Statement[];
}

/** @throws StorageRefusal a value doesn't fit its column */
export function planWrites(
  writes: readonly Write[],
  tableOf: (name: string) => Table,
  position: string,
): PlannedWrites {
  const tables = byTable(writes, tableOf);
  const each = (statement: (writes: TableWrites) => Statement | undefined): Statement[] =>
    tables.map(statement).filter((made) => made !== undefined);
  return {
    rows: [
      ...each(guards),
      ...each(removals),
      ...each(updates),
      ...each((of) => (isLog(of.table) ? undefined : insertions(of))),
      ...each(additions),
    ],
    logs: each((of) => (isLog(of.table) ? insertions(of, position) : undefined)),
  };
}

const isLog = ({ layout }: Table): boolean => layout.position !== undefined;

function byTable(writes: readonly Write[], tableOf: (name: string) => Table): TableWrites[] {
  const tables = new Map<string, TableWrites>();
  for (const write of writes) {
    const { name } = write.collection;
    let of = tables.get(name);
    if (of === undefined) {
      of = {
        table: tableOf(name),
        guarded: [],
        removals: [],
        updates: [],
        insertions: [],
        sums: [],
      };
      tables.set(name, of);
    }
    if ("version" in write) of.guarded.push(write);
    if (write.kind === "insert") of.insertions.push(write.row);
    else if (write.kind === "add") of.sums.push(write.row);
    else if (write.kind === "remove") of.removals.push(write);
    else if (write.kind === "update") of.updates.push(write);
  }
  return [...tables.values()].toSorted((a, b) => (a.table.name < b.table.name ? -1 : 1));
}

/** Locks the rows that are written or held, in the order of their keys, and fails unless all have the version that was seen. */
function guards({ table, guarded }: TableWrites): Statement | undefined {
  if (guarded.length === 0) return undefined;
  const sorted = guarded
    .map((write) => ({ write, key: write.key.map((part) => keyText(part) ?? "") }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ write }) => write);
  const key = keyParams(table, sorted);
  const version = `$${key.params.length + 1}::bigint[]`;
  // Rows that are only held may be held by others too.
  const lock = guarded.every(({ kind }) => kind === "hold") ? "FOR SHARE" : "FOR NO KEY UPDATE";
  const text =
    `SELECT CASE WHEN count(*) = cardinality(${version}) THEN 1 ` +
    `ELSE (${literal(`${conflictMark} ${table.collection.name} `)} || count(*))::integer END FROM (` +
    `SELECT FROM unnest(${[...key.params, version].join(", ")}) AS seen(${[...key.names, "v"].join(", ")}) ` +
    `CROSS JOIN LATERAL (SELECT ${keyWalk(table, table.collection, [`"version" = seen.v`])} ${lock}) AS locked) AS held`;
  return { text, values: [...key.values, versions(sorted)] };
}

/** The row of each key, by its place: it is locked, so that it stays there. */
function found(table: Table): string {
  return `CROSS JOIN LATERAL (SELECT ctid AS place ${keyWalk(table, table.collection)}) AS found WHERE t.ctid = found.place`;
}

function removals({ table, removals: removed }: TableWrites): Statement | undefined {
  if (removed.length === 0) return undefined;
  const key = keyParams(table, removed);
  const text = `DELETE FROM ${table.name} AS t USING unnest(${key.params.join(", ")}) AS seen(${key.names.join(", ")}) ${found(
    table,
  )}`;
  return { text, values: key.values };
}

/**
 * One statement for all rows, with every column that changes in any: a guarded row's others are what they were. In the order in which
 * they were given, since one may take a unique key that one before it frees.
 */
function updates({ table, updates: updated }: TableWrites): Statement | undefined {
  if (updated.length === 0) return undefined;
  const changed = new Set(updated.flatMap((write) => write.changed));
  const columns = [
    ...table.layout.columns.filter((column) => changed.has(column) && column !== "version"),
    "version",
  ];
  const key = keyParams(table, updated);
  const params = columns.map(
    (column, i) => `$${key.params.length + i + 1}::${sqlTypes[table.type(column)]}[]`,
  );
  const names = columns.map((_, i) => `c${i}`);
  const text =
    `UPDATE ${table.name} AS t SET ${columns.map((column, i) => `${quoted(column)} = seen.c${i}`).join(", ")} ` +
    `FROM unnest(${[...key.params, ...params].join(", ")}) AS seen(${[...key.names, ...names].join(", ")}) ${found(
      table,
    )}`;
  const rows = updated.map(({ row }) => row);
  return {
    text,
    values: [...key.values, ...columns.map((column) => table.columnText(column, rows))],
  };
}

/** `position` is the SQL that gives a row of a log its position. */
function insertions(
  { table, insertions: rows }: TableWrites,
  position?: string,
): Statement | undefined {
  return rows.length === 0
    ? undefined
    : insertion(table, isLog(table) ? rows : byKey(table, rows), position);
}

/** Sorted by their keys: everybody adds to the same few. */
function additions({ table, sums }: TableWrites): Statement | undefined {
  if (sums.length === 0) return undefined;
  const { text, values } = insertion(table, byKey(table, sums));
  const { columns: key } = table.collection.primary;
  const added = columnsOf(table.collection)
    .map(([column]) => column)
    .filter((column) => !key.includes(column))
    .map((column) => `${quoted(column)} = t.${quoted(column)} + excluded.${quoted(column)}`);
  return {
    text: `${text} ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${added.join(", ")}`,
    values,
  };
}

function insertion(table: Table, rows: readonly Row[], position = "0"): Statement {
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

/** The SQL for a row's position: the next one, in a transaction that has the lock of positions. */
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

function byKey({ collection }: Table, rows: readonly Row[]): Row[] {
  if (rows.length === 1) return [...rows];
  return rows
    .map((row) => ({ row, key: keyOf(collection, row).map((part) => keyText(part) ?? "") }))
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .map(({ row }) => row);
}

/** Any order will do that all processes agree on. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? "";
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
