import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Schema } from "../../../src/ports/collection.ts";
import type {
  Access,
  Group,
  Lookup,
  Range,
  Row,
  Search,
  StoragePort,
} from "../../../src/ports/storage.ts";
import { tablesOf } from "../schema.ts";
import { type Opened, Shared } from "../shared.ts";
import { BackgroundWriter, type Sending, underLoad } from "./background-writer.ts";
import { whenUnlocked } from "./errors.ts";
import { Connection } from "./handle.ts";
import { fileOf, HostTransactions } from "./host.ts";
import { ensureSchema, migrationSql } from "./migrations.ts";
import { connect, readerSettings } from "./open.ts";
import { Reads } from "./reads.ts";
import { Table } from "./tables.ts";
import { Transactions } from "./transactions.ts";
import { search } from "./words.ts";
import { Writer } from "./writer.ts";

/** How often the file is asked whether another connection committed. */
const watchMs = 50;

interface Open extends Opened {
  readonly writer: Writer;
  readonly reading: Connection;
  readonly reads: Reads;
  readonly table: (name: string) => Table;
  readonly path: string;
  readonly transactions: Transactions;
}

export interface SqliteStorageOptions {
  readonly file: string;
  readonly migrate: boolean;
  /** When commits go to a thread of their own. */
  readonly sending?: Sending;
}

/** The storage behind `sqlite()`, where it can be told more than a host needs to. */
export class SqliteStorage implements StoragePort<DatabaseSync> {
  readonly capabilities = {
    durable: true,
    shared: true,
    hostTransactions: true,
    transactions: 1,
    synchronous: true,
  } as const;
  readonly #file: string;
  readonly #migrate: boolean;
  readonly #sending: Sending;
  readonly #hosts = new HostTransactions();
  readonly #shared = new Shared<Open>();

  readonly reader = {
    get: async (lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> => {
      const { reads, reading } = this.#shared.get();
      return whenUnlocked(() => lookups.map((lookup) => reads.get(reading, lookup)));
    },
    range: async (range: Range): Promise<readonly Row[]> => {
      const { reads, reading } = this.#shared.get();
      return whenUnlocked(() => reads.range(reading, range));
    },
    search: async (searches: readonly Search[]): Promise<readonly (readonly Row[])[]> => {
      const { table, reading } = this.#shared.get();
      return whenUnlocked(() =>
        searches.map((each) => search(reading, table(each.index.collection.name), each)),
      );
    },
  };

  constructor({ file, migrate, sending = underLoad }: SqliteStorageOptions) {
    this.#file = file;
    this.#migrate = migrate;
    this.#sending = sending;
  }

  async open(schema: Schema): Promise<void> {
    await this.#shared.open(() => this.#connect(schema));
  }

  async migrate(schema: Schema): Promise<void> {
    const handle = await connect(this.#file);
    try {
      await ensureSchema(handle, schema, true);
    } finally {
      handle.close();
    }
  }

  migrationSql(schema: Schema, from = 0): string {
    return migrationSql(schema, from);
  }

  begin(how: Access = "shared"): Group {
    const { writer, transactions } = this.#shared.get();
    return transactions.between(writer.begin(how), how);
  }

  host(handle: unknown): Group {
    const { path, reads, table } = this.#shared.get();
    return this.#hosts.group(handle, path, reads, table);
  }

  transaction<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    return this.#shared.get().transactions.run(work);
  }

  /** Tells of every commit that isn't the writer's, those of the host's transactions included. */
  watch(listener: () => void): () => void {
    let last = this.#dataVersion();
    const timer = setInterval(() => {
      const version = this.#dataVersion();
      if (version === undefined || version === last) return;
      last = version;
      listener();
    }, watchMs);
    timer.unref();
    return () => clearInterval(timer);
  }

  async turn(): Promise<void> {
    await setImmediate();
  }

  async close(): Promise<void> {
    await this.#shared.close();
  }

  async #connect(schema: Schema): Promise<Open> {
    const table = tablesOf(schema, (collection) => new Table(collection));
    const handles: DatabaseSync[] = [];
    const closeAll = (): void => {
      for (const handle of handles.toReversed()) handle.close();
    };
    try {
      const writing = await connect(this.#file);
      handles.push(writing);
      await ensureSchema(writing, schema, this.#migrate);
      const reading = await connect(this.#file);
      handles.push(reading);
      reading.exec(readerSettings);
      const reads = new Reads(table);
      const background = new BackgroundWriter(this.#file, this.#sending);
      if (this.#sending.after === 0) await background.start();
      const writer = new Writer(new Connection(writing), reads, table, background);
      const transactions = new Transactions(() => connect(this.#file));
      return {
        writer,
        reading: new Connection(reading),
        reads,
        table,
        path: fileOf(writing),
        transactions,
        idle: () => writer.idle(),
        close: async () => {
          transactions.close();
          await writer.close();
          closeAll();
        },
      };
    } catch (error) {
      closeAll();
      throw error;
    }
  }

  #dataVersion(): unknown {
    try {
      const [version] = this.#shared.get().writer.connection.query("PRAGMA data_version").get() as [
        unknown,
      ];
      return version;
    } catch {
      // What is wrong with the database is told to those who read and write.
      return undefined;
    }
  }
}
