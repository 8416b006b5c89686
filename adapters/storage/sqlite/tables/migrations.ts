import type { DatabaseSync } from "node:sqlite";
import type { Collection, Schema } from "../../../../src/ports/index.ts";
import { layoutOf } from "../../layout.ts";
import { additionsSince, mustMigrate, refuseNewer, type Addition } from "../../schema-versions.ts";
import { namePrefix, quoted } from "../../sql.ts";
import { rollBack } from "../connections/connection.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import { positionsTable } from "../writes/steps.ts";
import { addColumn, createIndex, createTable, needsRowid, tableName } from "./tables.ts";
import { createWordIndex } from "./word-index.ts";

const schemaTable = `${namePrefix}schema`;

/**
 * Settings for a table that is rebuilt, which is dropped and replaced by its copy. With foreign
 * keys, SQLite would first delete its rows, and then delete or refuse the rows of the host
 * application that refer to them. And it would refuse to rename the copy while a view of the host
 * application names the missing table. Foreign keys cannot be changed inside a transaction.
 */
const settingsToRebuild = "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;";
/** The defaults of Node's handles. */
const usualSettings = "PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF;";

/**
 * Returns the statements that migrate a database from schema version `from`, in one transaction.
 */
export function migrationSql(schema: Schema, from: number): string {
  const rebuilds = additionsSince(from, schema).some(needsRowid);
  return [
    ...(rebuilds ? [settingsToRebuild] : []),
    "BEGIN IMMEDIATE;",
    ...statements(schema, from),
    "COMMIT;",
    ...(rebuilds ? [usualSettings] : []),
    "",
  ].join("\n");
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
  const getsRowid = needsRowid(addition);
  const indexes =
    isNew || getsRowid ? [collection.primary, ...collection.indexes] : addition.indexes;
  return [
    ...(isNew
      ? [createTable(collection)]
      : columns.map(([name, column]) => addColumn(collection, name, column))),
    ...(getsRowid ? rebuildWithRowid(collection) : []),
    ...indexes.map(createIndex).filter((statement) => statement !== undefined),
    ...wordIndexes.map(createWordIndex),
  ];
}

/**
 * Copies the table, because ALTER TABLE cannot add a rowid (SQLite manual, "ALTER TABLE", section
 * 7).
 */
function rebuildWithRowid(collection: Collection): string[] {
  const [old, copy] = [tableName(collection), quoted(`${namePrefix}${collection.name}_numbered`)];
  const columns = layoutOf(collection).columns.map(quoted).join(", ");
  return [
    createTable(collection, copy),
    `INSERT INTO ${copy} (${columns}) SELECT ${columns} FROM ${old};`,
    `DROP TABLE ${old};`,
    `ALTER TABLE ${copy} RENAME TO ${old};`,
  ];
}

/**
 * Migrates an older database if `canMigrate` allows it.
 * @throws TidingsError `storage_newer`, `storage_outdated`
 */
export async function ensureSchema(
  handle: DatabaseSync,
  file: string,
  schema: Schema,
  canMigrate: boolean,
): Promise<void> {
  const version = await whenUnlocked(file, () => versionOf(handle));
  if (mustMigrate(version, schema, canMigrate)) {
    await whenUnlocked(file, () => migrate(handle, schema));
  }
}

function migrate(handle: DatabaseSync, schema: Schema): void {
  handle.exec(settingsToRebuild);
  try {
    handle.exec("BEGIN IMMEDIATE");
    // Another process may have migrated while this one waited for the lock.
    const version = versionOf(handle);
    refuseNewer(version, schema);
    handle.exec(statements(schema, version).join("\n"));
    handle.exec("COMMIT");
  } catch (error) {
    rollBack(handle);
    throw error;
  } finally {
    handle.exec(usualSettings);
  }
}

function versionOf(handle: DatabaseSync): number {
  const exists = handle
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(schemaTable);
  if (exists === undefined) return 0;
  const row = handle.prepare(`SELECT version FROM ${schemaTable}`).get();
  return Number(row?.["version"] ?? 0);
}
