import type pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import type { Statement } from "../../../../adapters/storage/postgres/connections/statement.ts";
import { postgres } from "../../../../adapters/storage/postgres/index.ts";
import {
  countSettings,
  planSettings,
  searchSettings,
} from "../../../../adapters/storage/postgres/transactions/settings.ts";
import {
  addUpStatement,
  findPendingCounts,
} from "../../../../adapters/storage/postgres/writes/pending-counts.ts";
import type { Write } from "../../../../src/ports/storage.ts";
import { makeDatabase, type Database } from "../../../support/postgres/temporary-database.ts";
import { serverUrl } from "../../../support/postgres/test-database.ts";
import { cases } from "../../../support/runs.ts";
import {
  all,
  allStatements,
  names,
  readStatements,
  row,
  searches,
  tableOf,
  type Tied,
} from "./every-statement.ts";

const full = 1_000;

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

/**
 * All forms, and in `npm test` those at some of each four places. So each form is tried there, with
 * one number of rows.
 */
const some = (forms: readonly Tied[], places: readonly number[]): readonly Tied[] =>
  cases([...forms.entries()], ([i]) => places.includes(i % 4)).map(([, form]) => form);

const scanned = (found: readonly Node[]): Node[] =>
  found.filter(
    (node) => node["Node Type"] === "Seq Scan" && node["Relation Name"]?.startsWith("tidings_"),
  );

describe("the plans of the PostgreSQL storage's statements", () => {
  it("are checked for every form", () => {
    expect(new Set(allStatements.map(({ statement }) => statement.text)).size).toBeGreaterThan(700);
  });

  const fillings = [
    { rows: 0, statements: some(allStatements, [0, 1]) },
    { rows: 3, statements: allStatements },
    { rows: full, statements: some(allStatements, [2, 3]) },
  ];

  it.each(cases(fillings, ({ rows }) => rows !== 3))(
    "with $rows rows in each table, scan the one index in its order, without table scans and sorts",
    async ({ rows, statements }) => {
      const pool = await filled(rows);
      const client = await pool.connect();
      const faults: unknown[] = [];
      try {
        await within(client, planSettings, async () => {
          for await (const [{ statement, indexes }, found] of plans(client, statements)) {
            const others = found
              .map((node) => node["Index Name"])
              .filter((name) => name !== undefined && !indexes.includes(name));
            // Rows with nulls in a unique key have no order there.
            const partly = indexes.includes("tidings_conformance_items_one_of_a_kind");
            const detours = found.filter((node) =>
              /Seq Scan|Sort|Bitmap|Hash|Merge/.test(node["Node Type"]),
            );
            const slow = partly ? scanned(found) : detours;
            if (others.length + slow.length > 0) {
              faults.push({ text: statement.text, others, detours: slow });
            }
          }
        });
      } finally {
        client.release();
      }
      expect(faults).toEqual([]);
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
    const faults: string[] = [];
    try {
      await within(client, undefined, async () => {
        const statements = some(readStatements, [0]);
        for await (const [{ statement }, found] of plans(client, statements)) {
          if (scanned(found).length > 0) faults.push(statement.text);
        }
      });
    } finally {
      client.release();
    }
    expect(faults).toEqual([]);
  });
});
