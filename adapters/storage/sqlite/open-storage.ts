import type { DatabaseSync } from "node:sqlite";
import type { Schema } from "../../../src/ports/index.ts";
import { makeTables, type TableOf } from "../make-tables.ts";
import type { OpenTransactions } from "../open-transactions.ts";
import type { Closable } from "../ref-counted.ts";
import { connect } from "./connections/connect.ts";
import { Connection, fileOf, readerSettings } from "./connections/connection.ts";
import { checkPages } from "./damage/check-pages.ts";
import { DatabaseFiles } from "./damage/database-files.ts";
import { FileLocks } from "./engine-locks.ts";
import { toStorageError } from "./errors.ts";
import { Reads } from "./reads/reads.ts";
import { ensureSchema } from "./tables/migrations.ts";
import { Table } from "./tables/tables.ts";
import {
  BackgroundWriter,
  defaultThresholds,
  type BackgroundThresholds,
} from "./thread/background-writer.ts";
import type { Check } from "./thread/start-thread.ts";
import { EngineTransactions } from "./transactions/engine-transactions.ts";
import { Groups } from "./transactions/groups.ts";
import { HostGroups } from "./transactions/host-groups.ts";
import { WriteLock } from "./transactions/write-lock.ts";

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

interface OpenOptions extends SqliteStorageOptions {
  readonly openTransactions: OpenTransactions;
  /** Whether no call waits for the lock of another process. */
  readonly isAbandoned: () => boolean;
  /** Called after each commit of a group. */
  readonly onCommit: () => void;
}

/** What an open storage consists of. The engines that share the storage share it. */
export interface OpenStorage extends Closable {
  readonly files: DatabaseFiles;
  readonly tableOf: TableOf<Table>;
  readonly reads: Reads;
  readonly readerConnection: Connection;
  readonly groupsConnection: Connection;
  readonly groups: Groups;
  readonly hostGroups: HostGroups;
  readonly transactions: EngineTransactions;
  readonly engineLocks: FileLocks;
  /** Whether no call waits for the lock of another process. */
  readonly isAbandoned: () => boolean;
}

/** Connects to the database file, checks it, and migrates it if the options allow that. */
export async function openStorage(schema: Schema, options: OpenOptions): Promise<OpenStorage> {
  const { file, migrate, check = "quick", thresholds = defaultThresholds } = options;
  const { openTransactions, isAbandoned, onCommit } = options;
  const tableOf = makeTables(schema, (collection) => new Table(collection));
  const handles: DatabaseSync[] = [];
  const closeAll = (): void => {
    for (const handle of handles.toReversed()) handle.close();
  };
  try {
    const groupsHandle = await connect(file);
    handles.push(groupsHandle);
    const groupsConnection = new Connection(groupsHandle);
    const path = fileOf(groupsHandle);
    await checkPages(groupsConnection, path, check);
    await ensureSchema(groupsHandle, path, schema, migrate);
    const readerHandle = await connect(file);
    handles.push(readerHandle);
    readerHandle.exec(readerSettings);
    const reads = new Reads(tableOf);
    const background = new BackgroundWriter(file, thresholds);
    if (thresholds.minGroups === 0) await background.start();
    const files = new DatabaseFiles(path, () => {
      // While a transaction reads, SQLite copies no later part of the log. An open group cannot
      // commit any more, so its transaction may end.
      groups.endReading();
      return saveLog(groupsHandle);
    });
    const lock = new WriteLock(path);
    const groups: Groups = new Groups({
      connection: groupsConnection,
      reads,
      tableOf,
      background,
      files,
      lock,
      isAbandoned,
      onCommit,
    });
    const transactions = new EngineTransactions({
      files,
      lock,
      connect: () => connect(file),
      openTransactions,
      isAbandoned,
    });
    const engineLocks = new FileLocks(path);
    return {
      files,
      tableOf,
      reads,
      readerConnection: new Connection(readerHandle),
      groupsConnection,
      groups,
      hostGroups: new HostGroups(files, reads, tableOf, openTransactions),
      transactions,
      engineLocks,
      isAbandoned,
      idle: () => groups.idle(),
      close: async () => {
        engineLocks.close();
        transactions.close();
        await background.close();
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
