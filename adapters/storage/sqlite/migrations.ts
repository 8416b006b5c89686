import type { Collection, Schema } from "../../../src/ports/collection.ts";
import { layoutOf } from "../layout.ts";
import { type Addition, additionsSince, mustMigrate, refuseNewer } from "../schema.ts";
import { whenUnlocked } from "./errors.ts";
import type { SqliteHandle } from "./handle.ts";
import {
  addColumn,
  createIndex,
  createTable,
  mustBeNumbered,
  prefix,
  quoted,
  tableName,
} from "./tables.ts";
import { createWordIndex } from "./words.ts";

const schemaTable = `${prefix}schema`;
/** One row: the last position given in any log. */
export const positionsTable: string = `${prefix}positions`;

/** What takes a database from schema version `from` to the schema, in one transaction. */
export function migrationSql(schema: Schema, from: number): string {
  return ["BEGIN IMMEDIATE;", ...statements(schema, from), "COMMIT;", ""].join("\n");
}

function statements(schema: Schema, from: number): string[] {
  const { version } = schema;
  if (from >= version) return [];
  const added = additionsSince(from, schema).flatMap(statementsOf);
  if (from > 0) {
    return [...added, `UPDATE ${schemaTable} SET version = ${version} WHERE version = ${from};`];
  }
  return [
    `CREATE TABLE ${schemaTable} (version INTEGER NOT NULL) STRICT;`,
    `INSERT INTO ${schemaTable} VALUES (${version});`,
    `CREATE TABLE ${positionsTable} (last INTEGER NOT NULL) STRICT;`,
    `INSERT INTO ${positionsTable} VALUES (0);`,
    ...added,
  ];
}

function statementsOf(addition: Addition): string[] {
  const { collection, isNew, columns, wordIndexes } = addition;
  const isNumbered = mustBeNumbered(addition);
  const indexes =
    isNew || isNumbered ? [collection.primary, ...collection.indexes] : addition.indexes;
  return [
    ...(isNew
      ? [createTable(collection)]
      : columns.map(([name, column]) => addColumn(collection, name, column))),
    ...(isNumbered ? numbered(collection) : []),
    ...indexes.map(createIndex).filter((statement) => statement !== undefined),
    ...wordIndexes.map(createWordIndex),
  ];
}

/** What a table lies by can't be altered: it is copied (SQLite manual, "ALTER TABLE", 7). */
function numbered(collection: Collection): string[] {
  const [old, copy] = [tableName(collection), quoted(`${prefix}${collection.name}_numbered`)];
  const columns = layoutOf(collection).columns.map(quoted).join(", ");
  return [
    createTable(collection, copy),
    `INSERT INTO ${copy} (${columns}) SELECT ${columns} FROM ${old};`,
    `DROP TABLE ${old};`,
    `ALTER TABLE ${copy} RENAME TO ${old};`,
  ];
}

/** Migrates when `bringUp` says so, else refuses what is older; refuses what is newer. */
export async function ensureSchema(
  handle: SqliteHandle,
  schema: Schema,
  bringUp: boolean,
): Promise<void> {
  const version = await whenUnlocked(() => versionOf(handle));
  if (mustMigrate(version, schema, bringUp)) await whenUnlocked(() => migrate(handle, schema));
}

function migrate(handle: SqliteHandle, schema: Schema): void {
  handle.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated while this one waited for the lock.
    const version = versionOf(handle);
    refuseNewer(version, schema);
    handle.exec(statements(schema, version).join("\n"));
    handle.exec("COMMIT");
  } catch (error) {
    rollBack(handle);
    throw error;
  }
}

/** SQLite has rolled some failed transactions back by itself; then there is none to roll back. */
export function rollBack(handle: SqliteHandle): void {
  try {
    handle.exec("ROLLBACK");
  } catch {
    // No transaction is open: what was wanted.
  }
}

function versionOf(handle: SqliteHandle): number {
  const exists = handle
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(schemaTable);
  if (exists === undefined) return 0;
  const row = handle.prepare(`SELECT version FROM ${schemaTable}`).get();
  return typeof row === "object" && row !== null && "version" in row ? Number(row.version) : 0;
}
