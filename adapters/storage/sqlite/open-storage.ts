import type { DatabaseSync } from "node:sqlite";
import type { Schema } from "../../../src/ports/index.ts";
import type { OpenTransactions } from "../open-transactions.ts";
import type { Closable } from "../ref-counted.ts";
import { makeTables, type TableOf } from "../schema.ts";
import {
  type BackgroundThresholds,
  BackgroundWriter,
  defaultThresholds,
} from "./background-writer.ts";
import { checkPages } from "./check-pages.ts";
import { connect } from "./connect.ts";
import { Connection } from "./connection.ts";
import { FileLocks } from "./engine-locks.ts";
import { toStorageError } from "./errors.ts";
import { fileOf, readerSettings } from "./handle.ts";
import { ensureSchema } from "./migrations.ts";
import { OpenFiles } from "./open-files.ts";
import { Reads } from "./reads.ts";
import { Table } from "./tables.ts";
import type { Check } from "./thread-messages.ts";
import { Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

/** Options of the storage. */
export interface SqliteStorageOptions {
  /** The path of the database file. */
  readonly file: string;
  /** Whether opening migrates an empty or older database. */
  readonly migrate: boolean;
  /** How much of the database to check when it is opened. */
  readonly check?: Check;
  /** When commits move to the background thread. */
  readonly thresholds?: BackgroundThresholds;
}

/** What an open storage consists of. The engines that share the storage share it. */
export interface OpenStorage extends Closable {
  /** The path of the database file, as SQLite reports it. */
  readonly path: string;
  readonly files: OpenFiles;
  readonly tableOf: TableOf<Table>;
  readonly reads: Reads;
  /** The connection of the storage's reader. */
  readonly reading: Connection;
  readonly writer: Writer;
  readonly transactions: Transactions;
  readonly locks: FileLocks;
}

/**
 * Connects to the database file, checks it, and migrates it if the options allow that. `onCommit`
 * is called after each commit of a group.
 */
export async function openStorage(
  schema: Schema,
  { file, migrate, check = "quick", thresholds = defaultThresholds }: SqliteStorageOptions,
  openTransactions: OpenTransactions,
  onCommit: () => void,
): Promise<OpenStorage> {
  const tableOf = makeTables(schema, (collection) => new Table(collection));
  const handles: DatabaseSync[] = [];
  const closeAll = (): void => {
    for (const handle of handles.toReversed()) handle.close();
  };
  try {
    const writing = await connect(file);
    handles.push(writing);
    const path = fileOf(writing);
    await checkPages(new Connection(writing), path, check);
    await ensureSchema(writing, path, schema, migrate);
    const reading = await connect(file);
    handles.push(reading);
    reading.exec(readerSettings);
    const reads = new Reads(tableOf);
    const background = new BackgroundWriter(file, thresholds);
    if (thresholds.minGroups === 0) await background.start();
    const files = new OpenFiles(path, () => {
      // While a transaction reads, SQLite copies no later part of the log. An open group cannot
      // commit any more, so its transaction may end.
      writer.endReading();
      return saveLog(writing);
    });
    const writer: Writer = new Writer({
      connection: new Connection(writing),
      reads,
      tableOf,
      background,
      files,
      onCommit,
    });
    const transactions = new Transactions(path, () => connect(file), openTransactions);
    const locks = new FileLocks(path);
    return {
      path,
      files,
      tableOf,
      reads,
      reading: new Connection(reading),
      writer,
      transactions,
      locks,
      idle: () => writer.idle(),
      close: async () => {
        locks.close();
        transactions.close();
        await writer.close();
        closeAll();
      },
    };
  } catch (error) {
    closeAll();
    throw toStorageError(error, file);
  }
}

/** Copies the write-ahead log into the database file. Returns whether it copied everything. */
function saveLog(handle: DatabaseSync): boolean {
  try {
    const { busy, log, checkpointed } =
      handle.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
    return busy === 0 && log === checkpointed;
  } catch {
    return false;
  }
}
