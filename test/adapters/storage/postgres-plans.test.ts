import type pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import type { Statement } from "../../../adapters/storage/postgres/connections/statement.ts";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { Names } from "../../../adapters/storage/postgres/names.ts";
import { planLookups } from "../../../adapters/storage/postgres/reads/lookups.ts";
import { rangeStatement } from "../../../adapters/storage/postgres/reads/ranges.ts";
import { Table } from "../../../adapters/storage/postgres/tables/tables.ts";
import { searchStatement } from "../../../adapters/storage/postgres/tables/word-index.ts";
import { groupWrites } from "../../../adapters/storage/postgres/transactions/groups.ts";
import {
  countSettings,
  planSettings,
  searchSettings,
} from "../../../adapters/storage/postgres/transactions/settings.ts";
import {
  addUpStatement,
  findPendingCounts,
} from "../../../adapters/storage/postgres/writes/pending-counts.ts";
import {
  assignStatement,
  unplacedRows,
} from "../../../adapters/storage/postgres/writes/positions.ts";
import { planWrites } from "../../../adapters/storage/postgres/writes/writes.ts";
import { schema as conformance } from "../../../adapters/testing/conformance/storage/collections.ts";
import { schema } from "../../../src/modules.ts";
import {
  type Collection,
  columnsOf,
  type Index,
  keyOf,
  type KeyValue,
  positionColumnOf,
} from "../../../src/ports/collection.ts";
import type { Range, Row, SearchedWord, Write } from "../../../src/ports/storage.ts";
import { type Database, makeDatabase } from "../../support/postgres-database.ts";
import { serverUrl } from "../../support/postgres.ts";

const names = new Names("public");
const all = { version: 1, collections: [...schema.collections, ...conformance.collections] };
const tables = new Map(
  all.collections.map((collection) => [collection.name, new Table(collection, names)]),
);
const tableOf = ({ name }: Collection): Table => tables.get(name) ?? expect.fail(name);
const full = 3_000;

/**
 * The `n`th row of a collection. Many rows share the values of an index's leading columns. The
 * values of the last key columns are unique.
 */
function row(collection: Collection, n: number): Row {
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
interface Tied {
  readonly statement: Statement;
  readonly indexes: readonly string[];
}

const nameOf = ({ collection, name }: Index): string =>
  `tidings_${collection.name}_${name === "primary" ? "pkey" : name}`;

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
    yield* planLookups([lookup, lookup], tableOf).statements.map(tied);
    yield* planLookups([{ ...lookup, lock: true }], tableOf).statements.map(tied);
    for (const direction of ["ascending", "descending"] as const) {
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
const searches = all.collections
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

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Node[];
}

function* nodes(node: Node): Generator<Node> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodes(child);
}

type Explained = pg.QueryResult<{ "QUERY PLAN": [{ Plan: Node }] }>;

/** The nodes of each statement's plan. Statements are explained many at once, in one round trip. */
async function* plans<T extends { readonly statement: Statement }>(
  client: pg.ClientBase,
  all: readonly T[],
): AsyncGenerator<readonly [T, Node[]]> {
  for (let from = 0; from < all.length; from += 100) {
    const some = all.slice(from, from + 100);
    const texts = some.map(
      ({ statement: { text } }) => `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text};`,
    );
    // For several statements, there is a result for each.
    const results: Explained | Explained[] = await client.query(texts.join("\n"));
    const explained = [results].flat();
    expect(explained).toHaveLength(some.length);
    for (const [i, each] of some.entries()) {
      const [{ Plan }] = explained[i]?.rows[0]?.["QUERY PLAN"] ?? expect.fail(each.statement.text);
      yield [each, [...nodes(Plan)]];
    }
  }
}

/** Planned with the storage's own settings, or with the server's. */
async function within<T>(
  client: pg.ClientBase,
  settings: Statement | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await client.query("BEGIN");
  try {
    if (settings !== undefined) await client.query(settings.text);
    return await work();
  } finally {
    await client.query("ROLLBACK");
  }
}

const databases: Database[] = [];
const pools = new Map<number, Promise<pg.Pool>>();
afterAll(async () => {
  for (const each of databases) await each[Symbol.asyncDispose]();
});

/** A database with `rows` rows in each table. Tests share it, since they change nothing. */
function filled(rows: number): Promise<pg.Pool> {
  const pool = pools.get(rows) ?? fill(rows);
  pools.set(rows, pool);
  return pool;
}

async function fill(rows: number): Promise<pg.Pool> {
  const made = await makeDatabase(await serverUrl());
  databases.push(made);
  const pool = made.pool();
  const port = postgres({ pool });
  await port.open(all);
  for (const collection of all.collections) {
    const kind = collection.kind === "counter" ? "add" : "insert";
    const made = Array.from({ length: rows }, (_, n): Write => ({
      kind,
      collection,
      row: row(collection, n),
    }));
    for (let from = 0; from < rows; from += 500) {
      await port.begin().commit(made.slice(from, from + 500));
    }
  }
  await port.close();
  await pool.query("ANALYZE");
  return pool;
}

const readStatements = all.collections.flatMap(indexesOf).flatMap((index) => [...reads(index)]);
const allStatements = [
  ...readStatements,
  ...all.collections.flatMap((collection) => [...writes(collection), ...unplaced(collection)]),
];
const scanned = (found: readonly Node[]): Node[] =>
  found.filter(
    (node) => node["Node Type"] === "Seq Scan" && node["Relation Name"]?.startsWith("tidings_"),
  );

describe("the plans of the PostgreSQL storage's statements", () => {
  it("are checked for every form", () => {
    expect(new Set(allStatements.map(({ statement }) => statement.text)).size).toBeGreaterThan(700);
  });

  // The forms alternate: half of them are checked on empty tables, and half on nearly empty ones.
  it.each([
    { rows: 0, statements: allStatements.filter((_, i) => i % 2 === 0) },
    { rows: 3, statements: allStatements.filter((_, i) => i % 2 === 1) },
    { rows: full, statements: allStatements },
  ])(
    "with $rows rows in each table, scan the one index in its order, without table scans and sorts",
    async ({ rows, statements }) => {
      const pool = await filled(rows);
      const client = await pool.connect();
      try {
        await within(client, planSettings, async () => {
          for await (const [{ statement, indexes }, found] of plans(client, statements)) {
            const walked = found
              .map((node) => node["Index Name"])
              .filter((name) => name !== undefined);
            expect(
              walked.filter((name) => !indexes.includes(name)),
              statement.text,
            ).toEqual([]);
            // Rows with nulls in a unique key have no order there.
            const partly = indexes.includes("tidings_conformance_items_one_of_a_kind");
            const detours = found.filter((node) =>
              /Seq Scan|Sort|Bitmap|Hash|Merge/.test(node["Node Type"]),
            );
            expect(partly ? scanned(found) : detours, statement.text).toEqual([]);
          }
        });
      } finally {
        client.release();
      }
    },
  );

  it.each([0, full])(
    "with %i rows in each table, search with the word index alone",
    async (rows) => {
      const pool = await filled(rows);
      const client = await pool.connect();
      try {
        await within(client, searchSettings, async () => {
          for await (const [{ statement, index }, found] of plans(client, searches)) {
            const ways = found.map((node) => [node["Node Type"], node["Index Name"]]);
            expect(ways, statement.text).toEqual([
              ["Limit", undefined],
              ["Bitmap Heap Scan", undefined],
              ["Bitmap Index Scan", index],
            ]);
          }
        });
      } finally {
        client.release();
      }
    },
  );

  it.each([0, full])(
    "with %i rows in each table, find the additions to counters without table scans",
    async (rows) => {
      const pool = await filled(rows);
      const client = await pool.connect();
      const counters = all.collections.filter(({ kind }) => kind === "counter");
      const statements = [
        findPendingCounts(names),
        ...counters.map((counter) => addUpStatement(names, tableOf(counter))),
      ].map((statement) => ({ statement }));
      try {
        await within(client, countSettings, async () => {
          for await (const [{ statement }, found] of plans(client, statements)) {
            const walked = found.map((node) => node["Index Name"]);
            expect(
              walked.filter((name) => name !== undefined),
              statement.text,
            ).toEqual(["tidings_pending_counts_pkey"]);
            expect(scanned(found), statement.text).toEqual([]);
          }
        });
      } finally {
        client.release();
      }
    },
  );

  it("of reads scan no table with the server's own settings either, which a host transaction keeps", async () => {
    const pool = await filled(full);
    const client = await pool.connect();
    try {
      await within(client, undefined, async () => {
        for await (const [{ statement }, found] of plans(client, readStatements)) {
          expect(scanned(found), statement.text).toEqual([]);
        }
      });
    } finally {
      client.release();
    }
  });
});
