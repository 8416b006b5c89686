import { existsSync } from "node:fs";
import { MessagingEngine } from "../entry.ts";
import { sandbox } from "../transport/sandbox/index.ts";
import { parseArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { chooseDatabase, databaseOptions, databaseUsage } from "./database/choose.ts";
import { schemaVersion, type Database } from "./database/database.ts";
import { bold, note, print } from "./terminal.ts";

const usage = [
  `${bold("Usage:")} tidings migrate [--sql]`,
  "",
  "Migrates a database to this version of tidings. Migrations only add to the schema.",
  "An engine also migrates its database itself, unless it is created with `migrate: false`.",
  "",
  "  --sql             change nothing; print the SQL that migrates this database",
  ...databaseUsage,
].join("\n");

async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(usage, args, {
    ...databaseOptions,
    sql: { type: "boolean", default: false },
  });
  const { sql } = values;
  const database = chooseDatabase(values, { usage, mayCreate: true });
  const engine = new MessagingEngine({
    storage: database.storage({ migrate: true }),
    transports: [sandbox()],
  });
  try {
    const from = await versionOf(database);
    if (sql) return printSql(engine, from);
    await engine.migrate();
    const to = await schemaVersion(database);
    note(
      from === to
        ? `${database.name} has schema version ${to} already. Nothing to do.`
        : `Migrated ${database.name} from schema version ${from} to ${to}.`,
    );
  } finally {
    await engine.stop();
    await database.close();
  }
}

/** `--sql` creates no file, and a file that does not exist cannot be opened for reading. */
async function versionOf(database: Database): Promise<number> {
  const { file } = database;
  return file !== undefined && !existsSync(file) ? 0 : schemaVersion(database);
}

function printSql(engine: MessagingEngine, from: number): void {
  const statements = engine.migrationSql(from);
  // From a version later than all, only the statements of the transaction remain.
  if (statements === engine.migrationSql(Number.MAX_SAFE_INTEGER)) {
    note(`Schema version ${from} needs no migration.`);
  } else {
    print(statements.trimEnd());
  }
}

export const migrate: Command = { usage, run };
