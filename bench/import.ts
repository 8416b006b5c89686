import { DatabaseSync } from "node:sqlite";
import type { Stored } from "../adapters/storage/layout.ts";
import { makeTables } from "../adapters/storage/make-tables.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { Table } from "../adapters/storage/sqlite/tables/tables.ts";
import type { ImportContact } from "../src/contacts/import/import-types.ts";
import { schema } from "../src/modules.ts";
import { person } from "./support/contact-rows.ts";
import { withEngineOn, withTempFile } from "./support/engines.ts";
import { count, ratio, scaled, table, type Work } from "./support/measure.ts";

const rows = scaled(100_000);
/** Rows per commit, as in the engine. */
const chunk = 64;
const megabyte = 1_048_576;

/**
 * How fast contacts are imported, how much memory it takes, and how fast plain INSERTs would be.
 */
export function imports(): Promise<string> {
  return withTempFile(async (file) => {
    const { heap, ...engine } = await imported(file);
    const raw = await withTempFile((copy) => written(file, copy));
    const [rate, rawRate] = [engine, raw].map(({ items, ms }) => (items * 1_000) / ms) as [
      number,
      number,
    ];
    const memory = count(heap / megabyte);
    console.log(`\nImport of ${count(rows)} contacts on SQLite, ${chunk} rows per commit\n`);
    console.log(
      table(
        ["", "contacts per second", "ratio to INSERTs", "peak heap growth, MB"],
        [
          ["contacts.import", count(rate), ratio(rate / rawRate), memory],
          ["INSERTs of the same rows", count(rawRate), ratio(1), ""],
        ],
      ),
    );
    return (
      `import: ${count(rate)} contacts per second, ${ratio(rate / rawRate)} of plain ` +
      `INSERTs, with ${memory} MB of heap`
    );
  });
}

async function imported(file: string): Promise<Work & { readonly heap: number }> {
  return withEngineOn(sqlite({ file }), async ({ contacts }) => {
    const before = process.memoryUsage().heapUsed;
    let peak = before;
    const began = performance.now();
    for await (const { index, status } of contacts.import(people())) {
      if (status !== "created") throw new Error(`row ${index} is ${status}`);
      if (index % 1_000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed);
    }
    return { items: rows, ms: performance.now() - began, heap: peak - before };
  });
}

function* people(): Generator<ImportContact> {
  for (let i = 0; i < rows; i++) {
    const { phone, given, family, email } = person(i, rows);
    yield { phone, name: `${given} ${family}`, email, attributes: { town: "Metropolis" } };
  }
}

/**
 * Inserts the rows that the engine wrote into another database with the same tables and settings.
 */
async function written(file: string, copy: string): Promise<Work> {
  await sqlite({ file: copy }).migrate(schema);
  using from = new DatabaseSync(file);
  using to = new DatabaseSync(copy);
  to.exec(
    "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768",
  );
  const tableOf = makeTables(schema, (collection) => new Table(collection));
  const perContact = schema.collections
    .map(tableOf)
    .filter(({ name }) => from.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"] === rows)
    .map(({ name, layout, insert }) => {
      const select = from.prepare(
        `SELECT ${layout.columns.map((each) => `"${each}"`).join(", ")} FROM ${name}`,
      );
      select.setReturnArrays(true);
      // `setReturnArrays` is not in the types: the iterator returns arrays.
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
