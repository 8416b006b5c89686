import { DatabaseSync } from "node:sqlite";
import { Names } from "../adapters/storage/postgres/names.ts";
import { Table as PostgresTable } from "../adapters/storage/postgres/tables.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { createWordIndex } from "../adapters/storage/postgres/word-index.ts";
import { planWrites } from "../adapters/storage/postgres/writes.ts";
import { tablesOf } from "../adapters/storage/schema.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { Table as SqliteTable } from "../adapters/storage/sqlite/tables.ts";
import { contactsByWords } from "../src/contacts/rows.ts";
import type { MessagingEngine } from "../src/engine.ts";
import type { Write } from "../src/ports/storage.ts";
import { schema } from "../src/schema.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { scratch, withEngineOn } from "./engines.ts";
import { median } from "./measure.ts";
import { withDatabase } from "./postgres-databases.ts";
import { contactId, inserts, person } from "./search-rows.ts";
import { count, ratio, table } from "./table.ts";

const few = 10_000;
const many = Number(process.env["TIDINGS_BENCH_CONTACTS"] ?? 1_000_000);
const rounds = 101;

type Ask = (
  engine: MessagingEngine,
  i: number,
  size: number,
) => Promise<{ readonly data: readonly unknown[] }>;

/** What everything that reads is built of: how much deeper trees and colder pages are, whoever asks. */
const yardstick = "beside: a contact by its id";

const asks: Readonly<Record<string, Ask>> = {
  [yardstick]: async ({ contacts }, i) => ({ data: [await contacts.get(contactId(i))] }),
  "search: a full name": ({ contacts }, i, size) => {
    const { given, family } = person(i, size);
    return contacts.search({ q: `${given} ${family}` });
  },
  "search: a name that 50 have": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).family }),
  "search: a name that a twentieth has": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).given }),
  "search: a word that everybody has": ({ contacts }) => contacts.search({ q: "metropolis" }),
  "search: two beginnings": ({ contacts }, i, size) => {
    const { given, family } = person(i, size);
    return contacts.search({ q: `${given.slice(0, 9)} ${family.slice(0, 7)}` });
  },
  "search: one letter": ({ contacts }) => contacts.search({ q: "x" }),
  "search: an email address": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).email }),
  "search: the beginning of a number": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).phone.slice(0, -2) }),
  "inbox: all": ({ conversations }) => conversations.list(),
  "inbox: open": ({ conversations }) => conversations.list({ status: "open" }),
  "inbox: open and unread": ({ conversations }) =>
    conversations.list({ status: "open", unread: true }),
  "inbox: one agent's": ({ conversations }, i) =>
    conversations.list({ assignee: `agent-${i % 5}` }),
  "inbox: a label": ({ conversations }) => conversations.list({ label: "vip" }),
};

/** Whether what people wait for stays as quick from ten thousand contacts to a million. */
export async function search(): Promise<string> {
  const told: string[] = [];
  await scratch((small) =>
    scratch((large) =>
      withEngineOn(sqlite({ file: small }), (less) =>
        withEngineOn(sqlite({ file: large }), async (more) => {
          await fillSqlite(less, small, few);
          await fillSqlite(more, large, many);
          told.push(`${await compare("SQLite", less, more)} on SQLite`);
        }),
      ),
    ),
  );
  await using server = await startPostgres();
  await withDatabase(server.url, (small) =>
    withDatabase(server.url, (large) =>
      withEngineOn(postgres({ pool: small.pool() }), (less) =>
        withEngineOn(postgres({ pool: large.pool() }), async (more) => {
          await fillPostgres(less, small, few);
          await fillPostgres(more, large, many);
          told.push(`${await compare("PostgreSQL", less, more)} on PostgreSQL`);
        }),
      ),
    ),
  );
  return `search and inbox of ${count(many)} beside ${count(few)} at worst ${told.join(", ")}`;
}

/** The two take turns, so that what else the machine does hits both alike. Answers the highest ratio. */
async function compare(
  storage: string,
  less: MessagingEngine,
  more: MessagingEngine,
): Promise<string> {
  const lines: string[][] = [];
  let worst = 0;
  for (const [name, ask] of Object.entries(asks)) {
    const times: { readonly less: number[]; readonly more: number[] } = { less: [], more: [] };
    for (let round = 0; round < rounds; round++) {
      const i = (round * 7_919) % few;
      times.less.push(await timed(() => ask(less, i, few)));
      times.more.push(await timed(() => ask(more, i * (many / few), many)));
    }
    const [a, b] = [median(times.less), median(times.more)];
    if (name !== yardstick) worst = Math.max(worst, b / a);
    lines.push([name, a.toFixed(2), b.toFixed(2), ratio(b / a)]);
  }
  console.log(`\nMilliseconds on ${storage}, medians of ${rounds}\n`);
  console.log(table(["", `of ${count(few)}`, `of ${count(many)}`, "ratio"], lines));
  return ratio(worst);
}

async function timed(work: () => Promise<{ readonly data: readonly unknown[] }>): Promise<number> {
  const began = performance.now();
  const { data } = await work();
  const ms = performance.now() - began;
  if (data.length === 0) throw new Error("nothing was found");
  return ms;
}

async function fillSqlite(engine: MessagingEngine, file: string, size: number): Promise<void> {
  await engine.account().get();
  const tables = tablesOf(schema, (collection) => new SqliteTable(collection));
  using database = new DatabaseSync(file);
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN");
  const statements = new Map<string, ReturnType<typeof database.prepare>>();
  for (const { collection, row } of rows(engine, size)) {
    const { insert, layout } = tables(collection.name);
    let statement = statements.get(insert);
    if (statement === undefined) statements.set(insert, (statement = database.prepare(insert)));
    statement.run(...layout.encode(row));
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}

const chunk = 5_000;

async function fillPostgres(
  engine: MessagingEngine,
  database: Parameters<Parameters<typeof withDatabase>[1]>[0],
  size: number,
): Promise<void> {
  await engine.account().get();
  const pool = database.pool({ max: 1 });
  const names = new Names("public");
  const tables = tablesOf(schema, (collection) => new PostgresTable(collection, names));
  await pool.query(`SET synchronous_commit = off; SET maintenance_work_mem = '256MB'`);
  await pool.query(`DROP INDEX tidings_contacts_words`);
  let writes: Write[] = [];
  const flush = async (): Promise<void> => {
    for (const { text, values } of planWrites(writes, tables, "0").rows) {
      await pool.query(text, [...values]);
    }
    writes = [];
  };
  for (const write of rows(engine, size)) if (writes.push(write) >= chunk) await flush();
  await flush();
  await pool.query(createWordIndex(contactsByWords, names));
  await pool.query("VACUUM ANALYZE");
}

const rows = (engine: MessagingEngine, size: number): ReturnType<typeof inserts> =>
  inserts(engine.account().scope, size);
