import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/errors.ts";
import type { Schema } from "../../../src/ports/collection.ts";
import type { Access, Group, Lookup, Range, Row, StoragePort } from "../../../src/ports/storage.ts";
import { BackgroundWriter, type Sending, underLoad } from "./background-writer.ts";
import { whenUnlocked } from "./errors.ts";
import { Connection } from "./handle.ts";
import { fileOf, HostTransactions } from "./host.ts";
import { ensureSchema, migrationSql } from "./migrations.ts";
import { connect } from "./open.ts";
import { Reads } from "./reads.ts";
import { Table } from "./tables.ts";
import { Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";

/** How often the file is asked whether another connection committed. */
const watchMs = 50;

interface Open {
  readonly writer: Writer;
  readonly reading: Connection;
  readonly reads: Reads;
  readonly table: (name: string) => Table;
  readonly path: string;
  readonly transactions: Transactions;
  close(): void;
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
  /** Engines that share the object: the last to close it does. */
  #openers = 0;
  #opening: Promise<void> | undefined;
  #open: Open | undefined;

  readonly reader = {
    get: async (lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> => {
      const { reads, reading } = this.#opened();
      return whenUnlocked(() => lookups.map((lookup) => reads.get(reading, lookup)));
    },
    range: async (range: Range): Promise<readonly Row[]> => {
      const { reads, reading } = this.#opened();
      return whenUnlocked(() => reads.range(reading, range));
    },
  };

  constructor({ file, migrate, sending = underLoad }: SqliteStorageOptions) {
    this.#file = file;
    this.#migrate = migrate;
    this.#sending = sending;
  }

  async open(schema: Schema): Promise<void> {
    this.#openers++;
    this.#opening ??= this.#connect(schema).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    try {
      await this.#opening;
    } catch (error) {
      this.#openers--;
      throw error;
    }
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
    const { writer, transactions } = this.#opened();
    return transactions.between(writer.begin(how), how);
  }

  host(handle: unknown): Group {
    const { path, reads, table } = this.#opened();
    return this.#hosts.group(handle, path, reads, table);
  }

  transaction<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    return this.#opened().transactions.run(work);
  }

  /** Tells of every commit that isn't the writer's, those of the host's transactions included. */
  watch(listener: () => void): () => void {
    const seen = (): unknown => this.#open && dataVersion(this.#open.writer.connection);
    let last = seen();
    const timer = setInterval(() => {
      const version = seen();
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
    if (this.#openers > 0) this.#openers--;
    if (this.#openers > 0) return;
    await this.#opening?.catch(() => {});
    await this.#open?.writer.idle();
    // Another may have come meanwhile.
    if (this.#openers > 0) return;
    const closing = this.#open;
    this.#open = undefined;
    // Who opens it from here on opens it anew.
    this.#opening = undefined;
    closing?.transactions.close();
    await closing?.writer.close();
    closing?.close();
  }

  async #connect(schema: Schema): Promise<void> {
    const tables = new Map(schema.collections.map((collection) => [collection.name, new Table(collection)]));
    const table = (name: string): Table => {
      const found = tables.get(name);
      if (found === undefined) throw new TypeError(`the schema has no collection ${name}`);
      return found;
    };
    const handles: DatabaseSync[] = [];
    const close = (): void => {
      for (const handle of handles.toReversed()) handle.close();
    };
    try {
      const writing = await connect(this.#file);
      handles.push(writing);
      await ensureSchema(writing, schema, this.#migrate);
      const reading = await connect(this.#file);
      handles.push(reading);
      reading.exec("PRAGMA query_only = ON");
      const reads = new Reads(table);
      const background = new BackgroundWriter(this.#file, this.#sending);
      if (this.#sending.after === 0) await background.start();
      const writer = new Writer(new Connection(writing), reads, table, background);
      const transactions = new Transactions(() => connect(this.#file));
      const path = fileOf(writing);
      this.#open = { writer, reading: new Connection(reading), reads, table, path, transactions, close };
    } catch (error) {
      close();
      throw error;
    }
  }

  #opened(): Open {
    if (this.#open === undefined) throw new TidingsError("storage_unavailable", "The storage is not open.");
    return this.#open;
  }
}

function dataVersion(connection: Connection): unknown {
  try {
    const [version] = connection.query("PRAGMA data_version").get() as [unknown];
    return version;
  } catch {
    // What is wrong with the database is told to those who read and write.
    return undefined;
  }
}
