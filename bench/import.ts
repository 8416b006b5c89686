import { DatabaseSync } from "node:sqlite";
import type { Stored } from "../adapters/storage/layout.ts";
import { tablesOf } from "../adapters/storage/schema.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { Table } from "../adapters/storage/sqlite/tables.ts";
import type { ImportContact } from "../src/contacts/types.ts";
import { schema } from "../src/schema.ts";
import { scratch, withEngineOn } from "./engines.ts";
import type { Work } from "./measure.ts";
import { person } from "./search-rows.ts";
import { count, ratio, table } from "./table.ts";

const rows = 100_000;
/** So many share a commit, of the engine's as of the others. */
const chunk = 64;
const megabyte = 1_048_576;

/** How fast contacts are imported, what memory that takes, and how fast the very same rows are written by statements alone. */
export function imports(): Promise<string> {
  return scratch(async (file) => {
    const { heap, ...engine } = await imported(file);
    const raw = await scratch((copy) => written(file, copy));
    const [rate, rawRate] = [engine, raw].map(({ items, ms }) => (items * 1_000) / ms) as [
      number,
      number,
    ];
    const memory = `${count(heap / megabyte)} MB`;
    console.log(`\nImport of ${count(rows)} contacts on SQLite\n`);
    console.log(
      table(
        ["", "contacts a second", "beside statements", "heap at most, above before"],
        [
          ["engine", count(rate), ratio(rate / rawRate), memory],
          ["the same rows by statements", count(rawRate), ratio(1), ""],
        ],
      ),
    );
    return `import of ${count(rate)} contacts a second, ${ratio(rate / rawRate)} of statements alone, in ${memory} of heap`;
  });
}

async function imported(file: string): Promise<Work & { readonly heap: number }> {
  return withEngineOn(sqlite({ file }), async ({ contacts }) => {
    const before = process.memoryUsage().heapUsed;
    let most = before;
    const began = performance.now();
    for await (const { index, status } of contacts.import(people())) {
      if (status !== "created") throw new Error(`row ${index} is ${status}`);
      if (index % 1_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
    }
    return { items: rows, ms: performance.now() - began, heap: most - before };
  });
}

function* people(): Generator<ImportContact> {
  for (let i = 0; i < rows; i++) {
    const { phone, given, family, email } = person(i, rows);
    yield { phone, name: `${given} ${family}`, email, attributes: { town: "Metropolis" } };
  }
}

/** What the engine wrote for each contact, once more, on a database with the same tables and settings. */
async function written(file: string, copy: string): Promise<Work> {
  await sqlite({ file: copy }).migrate(schema);
  using from = new DatabaseSync(file);
  using to = new DatabaseSync(copy);
  to.exec(
    "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768",
  );
  const tableOf = tablesOf(schema, (collection) => new Table(collection));
  const perContact = schema.collections
    .map(({ name }) => tableOf(name))
    .filter(({ name }) => from.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"] === rows)
    .map(({ name, layout, insert }) => {
      const select = from.prepare(
        `SELECT ${layout.columns.map((each) => `"${each}"`).join(", ")} FROM ${name}`,
      );
      select.setReturnArrays(true);
      // Arrays: what a statement answers that was told so.
      return {
        source: select.iterate() as Iterator<unknown> as Iterator<Stored[]>,
        into: to.prepare(insert),
      };
    });
  const began = performance.now();
  for (let left = rows; left > 0; left -= chunk) {
    to.exec("BEGIN IMMEDIATE");
    for (const { source, into } of perContact) {
      for (let i = Math.min(left, chunk); i > 0; i--) {
        into.run(...(source.next().value as Stored[]));
      }
    }
    to.exec("COMMIT");
  }
  return { items: rows, ms: performance.now() - began };
}
