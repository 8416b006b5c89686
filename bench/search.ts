import { DatabaseSync } from "node:sqlite";
import { makeTables } from "../adapters/storage/make-tables.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { Names } from "../adapters/storage/postgres/names.ts";
import { Table as PostgresTable } from "../adapters/storage/postgres/tables/tables.ts";
import { createWordIndex } from "../adapters/storage/postgres/tables/word-index.ts";
import { groupWrites } from "../adapters/storage/postgres/transactions/groups.ts";
import { planWrites } from "../adapters/storage/postgres/writes/writes.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { Table as SqliteTable } from "../adapters/storage/sqlite/tables/tables.ts";
import { contactsByWords } from "../src/contacts/rows.ts";
import type { MessagingEngine } from "../src/engine.ts";
import { schema } from "../src/modules.ts";
import type { Write } from "../src/ports/storage.ts";
import { startPostgres } from "../test/support/postgres/server.ts";
import { contactId, inserts, person } from "./support/contact-rows.ts";
import { withEngineOn, withTempFile } from "./support/engines.ts";
import { count, median, ratio, scaled, table } from "./support/measure.ts";
import { withDatabase } from "./support/postgres-databases.ts";

const few = 10_000;
const many = Number(process.env["TIDINGS_BENCH_CONTACTS"] ?? 1_000_000);
const rounds = scaled(101);

type Query = (
  engine: MessagingEngine,
  i: number,
  size: number,
) => Promise<{ readonly data: readonly unknown[] }>;

/** The baseline of every read: it shows how much deeper trees and colder pages cost. */
const baseline = "baseline: a contact by id";

const queries: Readonly<Record<string, Query>> = {
  [baseline]: async ({ contacts }, i) => ({ data: [await contacts.get(contactId(i))] }),
  "search: a full name": ({ contacts }, i, size) => {
    const { given, family } = person(i, size);
    return contacts.search({ q: `${given} ${family}` });
  },
  "search: a name of 50 contacts": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).family }),
  "search: a name of 1 in 20 contacts": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).given }),
  "search: a word of all contacts": ({ contacts }) => contacts.search({ q: "metropolis" }),
  "search: two prefixes": ({ contacts }, i, size) => {
    const { given, family } = person(i, size);
    return contacts.search({ q: `${given.slice(0, 9)} ${family.slice(0, 7)}` });
  },
  "search: one letter": ({ contacts }) => contacts.search({ q: "x" }),
  "search: an email address": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).email }),
  "search: a phone number's prefix": ({ contacts }, i, size) =>
    contacts.search({ q: person(i, size).phone.slice(0, -2) }),
  "inbox: all": ({ conversations }) => conversations.list(),
  "inbox: open": ({ conversations }) => conversations.list({ status: "open" }),
  "inbox: open and unread": ({ conversations }) =>
    conversations.list({ status: "open", unread: true }),
  "inbox: of one assignee": ({ conversations }, i) =>
    conversations.list({ assignee: `agent-${i % 5}` }),
  "inbox: with a label": ({ conversations }) => conversations.list({ label: "vip" }),
};

/** How much slower search and inbox are with a million contacts than with ten thousand. */
export async function search(): Promise<string> {
  const summaries: string[] = [];
  await withTempFile((small) =>
    withTempFile((large) =>
      withEngineOn(sqlite({ file: small }), (less) =>
        withEngineOn(sqlite({ file: large }), async (more) => {
          await fillSqlite(less, small, few);
          await fillSqlite(more, large, many);
          summaries.push(`${await compare("SQLite", less, more)} times as long on SQLite`);
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
          summaries.push(`${await compare("PostgreSQL", less, more)} times as long on PostgreSQL`);
        }),
      ),
    ),
  );
  return (
    `search: with ${count(many)} contacts instead of ${count(few)} ` +
    `a query takes at most ${summaries.join(", ")}`
  );
}

/** Alternates between the two, so that other load affects both alike. Returns the highest ratio. */
async function compare(
  storage: string,
  less: MessagingEngine,
  more: MessagingEngine,
): Promise<string> {
  const lines: string[][] = [];
  let worst = 0;
  for (const [name, query] of Object.entries(queries)) {
    const times: { readonly less: number[]; readonly more: number[] } = { less: [], more: [] };
    for (let round = 0; round < rounds; round++) {
      const i = (round * 7_919) % few;
      times.less.push(await timed(() => query(less, i, few)));
      times.more.push(await timed(() => query(more, Math.floor(i * (many / few)), many)));
    }
    const [a, b] = [median(times.less), median(times.more)];
    if (name !== baseline) worst = Math.max(worst, b / a);
    lines.push([name, a.toFixed(2), b.toFixed(2), ratio(b / a)]);
  }
  console.log(`\nSearch and inbox on ${storage}: milliseconds, median of ${rounds} calls\n`);
  console.log(table(["", `${count(few)} contacts`, `${count(many)} contacts`, "ratio"], lines));
  return ratio(worst);
}

async function timed(work: () => Promise<{ readonly data: readonly unknown[] }>): Promise<number> {
  const began = performance.now();
  const { data } = await work();
  const ms = performance.now() - began;
  if (data.length === 0) throw new Error("a query of the benchmark found nothing");
  return ms;
}

/** Writes the rows of many contacts, each with a conversation, past the engine. */
export async function fillSqlite(
  engine: MessagingEngine,
  file: string,
  size: number,
): Promise<void> {
  await engine.account().get();
  const tableOf = makeTables(schema, (collection) => new SqliteTable(collection));
  using database = new DatabaseSync(file);
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN");
  const statements = new Map<string, ReturnType<typeof database.prepare>>();
  for (const { collection, row } of rows(engine, size)) {
    const { insert, layout } = tableOf(collection);
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
  const tableOf = makeTables(schema, (collection) => new PostgresTable(collection, names));
  await pool.query(`SET synchronous_commit = off; SET maintenance_work_mem = '256MB'`);
  await pool.query(`DROP INDEX tidings_contacts_words`);
  let writes: Write[] = [];
  const flush = async (): Promise<void> => {
    for (const { text, values } of planWrites(writes, tableOf, groupWrites(names)).rows) {
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
