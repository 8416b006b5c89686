import { TidingsError } from "../../../../src/kernel/index.ts";
import type { Schema } from "../../../../src/ports/index.ts";
import { pause } from "../../pause.ts";
import { additionsSince, mustMigrate, refuseNewer } from "../../schema-versions.ts";
import { literal, namePrefix, quoted } from "../../sql.ts";
import type { Connection } from "../connections/connection.ts";
import { unprepared } from "../connections/statement.ts";
import { rollBack, runInTransaction } from "../connections/transaction-control.ts";
import type { Names } from "../names.ts";
import { planSettings } from "../transactions/settings.ts";
import { createPendingCounts } from "../writes/pending-counts.ts";
import { addColumn, createIndex, createTable } from "./tables.ts";
import { createWordIndex } from "./word-index.ts";

/**
 * How long a migration waits for a table in use. While it waits, every later statement on the table
 * waits behind it.
 */
const migrationLockTimeout = "10s";

/** How often to check whether another process still migrates, in milliseconds. */
const checkMs = 200;

/**
 * Returns the statements that migrate a database from schema version `from`, in one transaction,
 * for `psql` and similar tools.
 */
export function migrationSql(schema: Schema, names: Names, from: number): string {
  const schemaStatements = names.schema === "public" || from > 0 ? [] : [createSchema(names)];
  return [
    `BEGIN;`,
    `${lock(names)};`,
    ...schemaStatements,
    ...statements(schema, names, from),
    "COMMIT;",
    "",
  ].join("\n");
}

const createSchema = ({ schema }: Names): string =>
  `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)};`;

const lock = ({ migrationLock }: Names): string => `SELECT pg_advisory_xact_lock(${migrationLock})`;

const tryLock = ({ migrationLock }: Names): string =>
  `SELECT pg_try_advisory_xact_lock(${migrationLock})::text`;

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
      // Versions before 8 lack it.
      createPendingCounts(names),
      ...added,
      // Versions before 11 lack the key. It comes last, because it locks out new processes.
      addPrimaryKey(names),
      `UPDATE ${names.schemaTable} SET version = ${version} WHERE version = ${from};`,
    ];
  }
  return [
    `CREATE TABLE ${names.schemaTable} (version integer NOT NULL, ` +
      `id uuid PRIMARY KEY DEFAULT gen_random_uuid());`,
    `INSERT INTO ${names.schemaTable} (version) VALUES (${version});`,
    `CREATE SEQUENCE ${names.positions};`,
    // Rate limits need not survive a crash of the server.
    `CREATE UNLOGGED TABLE ${names.admissions} (key text COLLATE "C" PRIMARY KEY, ` +
      `times bigint[] NOT NULL, seen bigint NOT NULL, ahead bigint NOT NULL, ` +
      `admitted integer NOT NULL);`,
    createPendingCounts(names),
    ...added,
  ];
}

/**
 * Without a primary key, PostgreSQL refuses to update a table that belongs to a publication. If the
 * table of the schema version has one, this locks nothing.
 */
const addPrimaryKey = ({ schemaTable }: Names): string =>
  `DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_index WHERE indisprimary AND ` +
  `indrelid = ${literal(schemaTable)}::regclass) ` +
  `THEN ALTER TABLE ${schemaTable} ADD PRIMARY KEY (id); END IF; END $$;`;

/**
 * Migrates an older database if `canMigrate` allows it.
 * @throws TidingsError `storage_newer`, `storage_outdated`; `storage_unavailable` when the
 *   database's encoding is not UTF8
 */
export async function ensureSchema(
  connection: Connection,
  schema: Schema,
  names: Names,
  canMigrate: boolean,
): Promise<void> {
  await refuseEncoding(connection);
  if (mustMigrate(await versionOf(outsideTransaction(connection), names), schema, canMigrate)) {
    await migrate(connection, schema, names);
  }
}

type Run = (...texts: readonly string[]) => ReturnType<Connection["run"]>;

async function migrate(connection: Connection, schema: Schema, names: Names): Promise<void> {
  const run: Run = (...texts) => connection.run(texts.map(unprepared));
  try {
    while (!(await beginAlone(run, names))) await pause(checkMs);
    await run(`SET LOCAL lock_timeout = '${migrationLockTimeout}'`);
    // Another process may have migrated while this one waited for the lock.
    const version = await versionOf(connection, names);
    refuseNewer(version, schema);
    // A user who may create tables may still not be allowed to create schemas, so an existing
    // schema is not created.
    const [exists] = await run(
      `SELECT 1 FROM pg_namespace WHERE nspname = ${literal(names.schema)}`,
    );
    if (exists?.rows.length === 0) await run(createSchema(names));
    // The index of a big table takes minutes.
    for (const text of [...statements(schema, names, version), "COMMIT"]) {
      await connection.runLong([unprepared(text)]);
    }
  } catch (error) {
    await rollBack(connection);
    throw error;
  }
}

/**
 * Begins a transaction unless another process migrates, which may take hours. It does not wait on
 * the server: a session that waits there does not notice that its client is gone, so each process
 * that ends meanwhile would leave one more.
 */
async function beginAlone(run: Run, names: Names): Promise<boolean> {
  const results = await run("BEGIN ISOLATION LEVEL READ COMMITTED", tryLock(names));
  if (results.at(-1)?.rows[0]?.[0] === "true") return true;
  await run("ROLLBACK");
  return false;
}

/** Runs statements that read tables, and that another transaction's lock does not hold for long. */
export function outsideTransaction(connection: Connection): Pick<Connection, "run"> {
  return {
    run: async (statements) =>
      (await runInTransaction(connection, [unprepared(planSettings.text), ...statements])).slice(1),
  };
}

/** Returns the version of the database's schema, or 0 if there are no tables. */
async function versionOf(connection: Pick<Connection, "run">, names: Names): Promise<number> {
  const [version] = (await schemaRow(connection, names, "version")) ?? [];
  return Number(version ?? 0);
}

/**
 * Returns an id that differs between databases, also between a database and its copy. Undefined if
 * there are no tables.
 */
export async function databaseId(
  connection: Pick<Connection, "run">,
  names: Names,
): Promise<string | undefined> {
  const [id] = (await schemaRow(connection, names, "id::text || ' ' || current_database()")) ?? [];
  return typeof id === "string" ? id : undefined;
}

async function schemaRow(
  connection: Pick<Connection, "run">,
  names: Names,
  selected: string,
): Promise<readonly unknown[] | undefined> {
  // Selecting from a missing table would fail the transaction. `to_regclass` is no alternative,
  // because its cache is as old as the transaction.
  const exists =
    `SELECT 1 FROM pg_tables WHERE schemaname = ${literal(names.schema)} ` +
    `AND tablename = '${namePrefix}schema'`;
  const [found] = await connection.run([unprepared(exists)]);
  if (found?.rows.length !== 1) return undefined;
  const read = unprepared(`SELECT ${selected} FROM ${names.schemaTable}`);
  const [row] = await connection.run([read]);
  return row?.rows[0];
}

async function refuseEncoding(connection: Connection): Promise<void> {
  const [read] = await connection.run([unprepared("SHOW server_encoding")]);
  const encoding = String(read?.rows[0]?.[0]);
  if (encoding === "UTF8") return;
  throw new TidingsError(
    "storage_unavailable",
    `expected a database with the encoding UTF8, got ${encoding}. ` +
      `Create the database with ENCODING 'UTF8'.`,
    { retryable: false },
  );
}
