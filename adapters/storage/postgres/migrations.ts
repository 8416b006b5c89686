import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Schema } from "../../../src/ports/collection.ts";
import { additionsSince, mustMigrate, refuseNewer } from "../schema.ts";
import type { Connection } from "./session/connection.ts";
import { literal, type Names, prefix, quoted } from "./names.ts";
import { addColumn, createIndex, createTable } from "./tables.ts";
import { createWordIndex } from "./words.ts";

/** How long a migration waits for tables that others use: while it waits, whoever comes after it waits too. */
const patience = "10s";

/** What takes a database from schema version `from` to the schema, in one transaction. For `psql` and the like. */
export function migrationSql(schema: Schema, names: Names, from: number): string {
  const made = names.schema === "public" || from > 0 ? [] : [createSchema(names)];
  return [
    `BEGIN;`,
    `${lock(names)};`,
    ...made,
    ...statements(schema, names, from),
    "COMMIT;",
    "",
  ].join("\n");
}

const createSchema = ({ schema }: Names): string =>
  `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)};`;

const lock = ({ migrationLock }: Names): string => `SELECT pg_advisory_xact_lock(${migrationLock})`;

function statements(schema: Schema, names: Names, from: number): string[] {
  const { version } = schema;
  if (from >= version) return [];
  const added = additionsSince(from, schema).flatMap(
    ({ collection, isNew, columns, indexes, wordIndexes }) => [
      ...(isNew
        ? createTable(collection, names)
        : columns.map(([name, column]) => addColumn(collection, name, column, names))),
      ...indexes.map((index) => createIndex(index, names)),
      ...wordIndexes.map((index) => createWordIndex(index, names)),
    ],
  );
  if (from > 0) {
    return [
      ...added,
      `UPDATE ${names.schemaTable} SET version = ${version} WHERE version = ${from};`,
    ];
  }
  return [
    `CREATE TABLE ${names.schemaTable} (version integer NOT NULL, id uuid NOT NULL DEFAULT gen_random_uuid());`,
    `INSERT INTO ${names.schemaTable} (version) VALUES (${version});`,
    `CREATE SEQUENCE ${names.positions};`,
    // What is admitted need not survive a crash of the server.
    `CREATE UNLOGGED TABLE ${names.admissions} (key text COLLATE "C" PRIMARY KEY, times bigint[] NOT NULL, ` +
      `seen bigint NOT NULL, ahead bigint NOT NULL, admitted integer NOT NULL);`,
    ...added,
  ];
}

/** Migrates when `bringUp` says so, else refuses what is older; refuses what is newer. */
export async function ensureSchema(
  connection: Connection,
  schema: Schema,
  names: Names,
  bringUp: boolean,
): Promise<void> {
  await refuseEncoding(connection);
  if (mustMigrate(await versionOf(connection, names), schema, bringUp)) {
    await migrate(connection, schema, names);
  }
}

async function migrate(connection: Connection, schema: Schema, names: Names): Promise<void> {
  const run = (...texts: readonly string[]): ReturnType<Connection["run"]> =>
    connection.run(texts.map((text) => ({ text, values: [] })));
  try {
    await run(
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      `SET LOCAL lock_timeout = '${patience}'`,
      lock(names),
    );
    // Another process may have migrated while this one waited for the lock.
    const version = await versionOf(connection, names);
    refuseNewer(version, schema);
    // Whoever may make tables may not make schemas, so what is there is not made.
    const [exists] = await run(
      `SELECT 1 FROM pg_namespace WHERE nspname = ${literal(names.schema)}`,
    );
    if (exists?.rows.length === 0) await run(createSchema(names));
    for (const statement of statements(schema, names, version)) await run(statement);
    await run("COMMIT");
  } catch (error) {
    await run("ROLLBACK").catch(() => connection.lose());
    throw error;
  }
}

/** 0 where there is none. */
async function versionOf(connection: Connection, names: Names): Promise<number> {
  const [version] = (await schemaRow(connection, names, "version")) ?? [];
  return Number(version ?? 0);
}

/** By which a database is told from others, copies included; `undefined` of one without the tables. */
export async function databaseId(
  connection: Connection,
  names: Names,
): Promise<string | undefined> {
  const [id] = (await schemaRow(connection, names, "id::text || ' ' || current_database()")) ?? [];
  return typeof id === "string" ? id : undefined;
}

async function schemaRow(
  connection: Connection,
  names: Names,
  selected: string,
): Promise<readonly unknown[] | undefined> {
  // Looked for first: to ask a table that is missing would fail the transaction. And not by `to_regclass`, whose cache is
  // as old as the transaction.
  const exists = `SELECT 1 FROM pg_tables WHERE schemaname = ${literal(names.schema)} AND tablename = '${prefix}schema'`;
  const [found] = await connection.run([{ text: exists, values: [] }]);
  if (found?.rows.length !== 1) return undefined;
  const [read] = await connection.run([
    { text: `SELECT ${selected} FROM ${names.schemaTable}`, values: [] },
  ]);
  return read?.rows[0];
}

async function refuseEncoding(connection: Connection): Promise<void> {
  const [read] = await connection.run([{ text: "SHOW server_encoding", values: [] }]);
  const encoding = String(read?.rows[0]?.[0]);
  if (encoding === "UTF8") return;
  throw new TidingsError(
    "storage_unavailable",
    `The database must have the encoding UTF8, and has ${encoding}.`,
  );
}
