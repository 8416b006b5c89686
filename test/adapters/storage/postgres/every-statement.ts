/** Every form of the statements that the PostgreSQL storage runs, with the index that each uses. */
import { expect } from "vitest";
import type { Statement } from "../../../../adapters/storage/postgres/connections/statement.ts";
import { Names } from "../../../../adapters/storage/postgres/names.ts";
import { planLookups } from "../../../../adapters/storage/postgres/reads/lookups.ts";
import { rangeStatement } from "../../../../adapters/storage/postgres/reads/ranges.ts";
import { Table } from "../../../../adapters/storage/postgres/tables/tables.ts";
import { searchStatement } from "../../../../adapters/storage/postgres/tables/word-index.ts";
import { groupWrites } from "../../../../adapters/storage/postgres/transactions/groups.ts";
import {
  assignStatement,
  unplacedRows,
} from "../../../../adapters/storage/postgres/writes/positions.ts";
import { planWrites } from "../../../../adapters/storage/postgres/writes/writes.ts";
import { schema as conformance } from "../../../../adapters/testing/conformance/storage/collections.ts";
import { schema } from "../../../../src/modules.ts";
import {
  columnsOf,
  keyOf,
  positionColumnOf,
  type Collection,
  type Index,
  type KeyValue,
} from "../../../../src/ports/collection.ts";
import type { Range, Row, SearchedWord, Write } from "../../../../src/ports/storage.ts";

export const names = new Names("public");
export const all = { version: 1, collections: [...schema.collections, ...conformance.collections] };
const tables = new Map(
  all.collections.map((collection) => [collection.name, new Table(collection, names)]),
);
export const tableOf = ({ name }: Collection): Table => tables.get(name) ?? expect.fail(name);

/**
 * The `n`th row of a collection. Many rows share the values of an index's leading columns. The
 * values of the last key columns are unique.
 */
export function row(collection: Collection, n: number): Row {
  const value = (column: string, type: string, nullable: boolean): unknown => {
    if (type === "json") return { n };
    if (type === "boolean") return n % 2 === 0;
    if (type === "real") return n / 7;
    if (type !== "text") return n;
    if (column === "words") return nullable && n % 3 === 0 ? null : `all n${n}`;
    if (column === "mode") return n % 2 === 0 ? "live" : "test";
    if (column === "account_id" || column === "lane") return `${column}_${n % 10}`;
    return nullable && n % 3 === 0 ? null : `${column}_${n}`;
  };
  const columns = columnsOf(collection).map(([name, { type, nullable }]) => [
    name,
    value(name, type, nullable),
  ]);
  return {
    ...(Object.fromEntries(columns) as Row),
    ...(collection.kind === "counter" ? {} : { version: 1 }),
  };
}

const indexesOf = ({ primary, indexes }: Collection): readonly Index[] => [primary, ...indexes];

/** A statement and the index that it has to use, in rare cases one of two. */
export interface Tied {
  readonly statement: Statement;
  readonly indexes: readonly string[];
}

const nameOf = ({ collection, name }: Index): string =>
  `tidings_${collection.name}_${name === "primary" ? "pkey" : name}`;

/** Whether an index may have rows with a null in a column. */
const mayBeNull = ({ collection, where }: Index, column: string): boolean =>
  where?.column !== column &&
  columnsOf(collection).some(([name, { nullable }]) => name === column && nullable);

/** Every form of look-up and range over an index. */
function* reads(index: Index): Generator<Tied> {
  const { collection } = index;
  const table = tableOf(collection);
  const sample = row(collection, 7);
  const order = [...new Set([...index.columns, ...collection.primary.columns])];
  const tuple = (from: number, to: number): KeyValue[] =>
    order.slice(from, to).map((column) => sample[column] as KeyValue);
  const tied = (statement: Statement): Tied => ({ statement, indexes: [nameOf(index)] });
  for (let length = 0; length <= index.columns.length; length++) {
    const prefix = tuple(0, length);
    const lookup = { index, key: prefix, limit: 10 };
    yield* planLookups([{ ...lookup, lock: true }], tableOf).statements.map(tied);
    const last = index.columns[length - 1];
    if (last !== undefined && mayBeNull(index, last)) {
      const key = [...prefix.slice(0, -1), null];
      for (const order of ["ascending", "descending"] as const) {
        yield* planLookups([{ ...lookup, key, order }], tableOf).statements.map(tied);
      }
    }
    for (const direction of ["ascending", "descending"] as const) {
      yield* planLookups([{ ...lookup, order: direction }], tableOf).statements.map(tied);
      const range: Range = { index, prefix, order: direction, limit: 10 };
      const forms: Range[] = [range, { ...range, skip: 3 }];
      for (let to = length + 1; to <= order.length; to++) {
        const bound = tuple(length, to);
        forms.push(
          { ...range, after: bound },
          { ...range, until: bound },
          { ...range, after: bound, until: bound },
        );
      }
      for (const form of forms) {
        const planned = rangeStatement(form, table);
        if (planned !== undefined) yield tied(planned.statement);
      }
    }
  }
}

/** Every form of search: a word, the beginning of a word, several words. */
export const searches = all.collections
  .flatMap(({ wordIndexes }) => wordIndexes)
  .flatMap((index) => {
    const word = (text: string, prefix: boolean): SearchedWord => ({ word: text, prefix });
    const asked = [[word("all", false)], [word("n", true)], [word("all", false), word("n1", true)]];
    return asked.map((words) => ({
      statement: searchStatement({ index, words, limit: 10 }, tableOf(index.collection)),
      index: `tidings_${index.collection.name}_${index.name}`,
    }));
  });

/** The statements that find a log's rows without a position. */
function* unplaced(collection: Collection): Generator<Tied> {
  const position = positionColumnOf(collection);
  if (position === undefined) return;
  const table = tableOf(collection);
  const indexes = ["unplaced", "by_position"].map((name) => `tidings_${collection.name}_${name}`);
  yield { statement: unplacedRows(table), indexes };
  yield { statement: assignStatement(names, table), indexes };
}

function writes(collection: Collection): readonly Tied[] {
  const rows = [1, 2, 3].map((n) => row(collection, n));
  const of = (kind: "insert" | "add"): Write[] =>
    rows.map((each) => ({ kind, collection, row: each }));
  const guarded = (kind: "hold" | "remove"): Write[] =>
    rows.map((each) => ({ kind, collection, key: keyOf(collection, each), version: 1 }));
  const changed = columnsOf(collection)
    .map(([name]) => name)
    .filter((name) => !collection.primary.columns.includes(name));
  const updates = rows.map((each): Write => ({
    kind: "update",
    collection,
    key: keyOf(collection, each),
    version: 1,
    row: each,
    changed,
  }));
  const groups =
    collection.kind === "counter"
      ? [of("add")]
      : [of("insert"), guarded("hold"), guarded("remove"), updates];
  return groups.flatMap((group) => {
    // `unplaced` has what comes before the insertion into a log.
    const shared = { ...groupWrites(names), beforeLog: () => [] };
    const { rows: statements, logs } = planWrites(group, tableOf, shared);
    return [...statements, ...logs].map((statement) => ({
      statement,
      indexes: [nameOf(collection.primary)],
    }));
  });
}

export const readStatements = all.collections
  .flatMap(indexesOf)
  .flatMap((index) => [...reads(index)]);
export const allStatements = [
  ...readStatements,
  ...all.collections.flatMap((collection) => [...writes(collection), ...unplaced(collection)]),
];
