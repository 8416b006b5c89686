import type { Schema } from "../../../src/ports/index.ts";
import { makeTables } from "../make-tables.ts";
import type { OpenTransactions } from "../open-transactions.ts";
import type { Closable } from "../ref-counted.ts";
import { Admissions } from "./admissions.ts";
import type { ConnectionPool } from "./connections/pool.ts";
import { Session } from "./connections/session.ts";
import type { StorageContext } from "./context.ts";
import { AdvisoryLocks } from "./engine-locks.ts";
import type { Names } from "./names.ts";
import { Notifications } from "./notifications.ts";
import { databaseId, ensureSchema, outsideTransaction } from "./tables/migrations.ts";
import { Table } from "./tables/tables.ts";
import { EngineTransactions } from "./transactions/engine-transactions.ts";
import { Groups } from "./transactions/groups.ts";
import { HostGroups } from "./transactions/host-groups.ts";
import { byName } from "./writes/writes.ts";

/** What an open storage consists of. The engines that share the storage share it. */
export interface OpenStorage extends StorageContext, Closable {
  readonly groups: Groups;
  readonly hostGroups: HostGroups;
  readonly transactions: EngineTransactions;
  readonly admissions: Admissions;
  readonly notifications: Notifications;
  readonly engineLocks: AdvisoryLocks;
}

interface OpenOptions {
  readonly pool: ConnectionPool;
  readonly names: Names;
  readonly canMigrate: boolean;
  readonly openTransactions: OpenTransactions;
  /** How many transactions of `engine.transaction` may be open at once. */
  readonly maxTransactions: number;
  /** Whether several engines have the storage open. */
  readonly isShared: () => boolean;
}

/** Checks the database, and migrates it if the options allow that. */
export async function openStorage(schema: Schema, options: OpenOptions): Promise<OpenStorage> {
  const { pool, names, canMigrate, openTransactions, maxTransactions, isShared } = options;
  const tableOf = makeTables(schema, (collection) => new Table(collection, names));
  const id = await pool.use(async (connection) => {
    await ensureSchema(connection, schema, names, canMigrate);
    return databaseId(outsideTransaction(connection), names);
  });
  await pool.readDefaults();
  const counters = schema.collections
    .filter(({ kind }) => kind === "counter")
    .map(tableOf)
    .toSorted(byName);
  const context: StorageContext = { pool, names, tableOf, counters };
  const session = new Session(pool);
  const notifications = new Notifications(pool, session, names);
  const engineLocks = new AdvisoryLocks(pool, session, names);
  const groups = new Groups(context, () => notifications.announceCommit(isShared()));
  const transactions = new EngineTransactions(pool, openTransactions, maxTransactions);
  return {
    ...context,
    groups,
    hostGroups: new HostGroups(context, id, notifications.hostNotification, openTransactions),
    transactions,
    admissions: new Admissions(pool, names),
    notifications,
    engineLocks,
    idle: () => groups.idle(),
    close: async () => {
      transactions.close();
      await engineLocks.close();
      await notifications.close();
    },
  };
}
