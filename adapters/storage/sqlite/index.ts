import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/errors.ts";
import type { Schema } from "../../../src/ports/collection.ts";
import type { Access, Group, Lookup, Range, Row, StoragePort } from "../../../src/ports/storage.ts";
import { translated, whenUnlocked } from "./errors.ts";
import { Connection } from "./handle.ts";
import { fileOf, HostTransactions } from "./host.ts";
import { ensureSchema, migrationSql } from "./migrations.ts";
import { Reads } from "./reads.ts";
import { Table } from "./tables.ts";
import { Writer } from "./writer.ts";

export type { SqliteHandle, SqliteStatement } from "./handle.ts";

export interface SqliteOptions {
  /** Path of the database file; made when it isn't there. Its directory must be. */
  readonly file: string;
  /** Whether opening brings an empty or older database up to date. Default true; else it is refused. */
  readonly migrate?: boolean;
}

/**
 * The storage in a SQLite file, on `node:sqlite` (Node 22.13 or later). WAL, and a commit is on disk before it is
 * answered. Several processes may work on one file. A host's transaction is joined through its own `node:sqlite` or
 * better-sqlite3 handle.
 * @throws TidingsError `invalid_option`
 */
export function sqlite(options: SqliteOptions): StoragePort {
  const { file, migrate = true } = options;
  if (typeof file !== "string" || file === "") {
    throw new TidingsError("invalid_option", `sqlite: file: expected the path of a database file, got ${typeof file}`);
  }
  if (file.includes(":memory:") || file.includes("mode=memory")) {
    throw new TidingsError(
      "invalid_option",
      "sqlite: file: expected a file, got a database in memory, which only one connection sees. Use memory() instead.",
    );
  }
  if (typeof migrate !== "boolean") {
    throw new TidingsError("invalid_option", `sqlite: migrate: expected true or false, got ${typeof migrate}`);
  }
  return new SqliteStorage(file, migrate);
}

/** How often the file is asked whether another connection committed. */
const watchMs = 50;

interface Open {
  readonly writer: Writer;
  readonly reading: Connection;
  readonly reads: Reads;
  readonly table: (name: string) => Table;
  readonly path: string;
  close(): void;
}

class SqliteStorage implements StoragePort {
  readonly capabilities = { durable: true, shared: true, hostTransactions: true, synchronous: true } as const;
  readonly lanes = 1;
  readonly #file: string;
  readonly #migrate: boolean;
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

  constructor(file: string, migrate: boolean) {
    this.#file = file;
    this.#migrate = migrate;
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

  begin(_lane: number, how: Access = "shared"): Group {
    return this.#opened().writer.begin(how);
  }

  host(handle: unknown): Group {
    const { path, reads, table } = this.#opened();
    return this.#hosts.group(handle, path, reads, table);
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
    this.#open?.close();
    this.#open = undefined;
    this.#opening = undefined;
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
      const writer = new Writer(new Connection(writing), reads, table);
      this.#open = { writer, reading: new Connection(reading), reads, table, path: fileOf(writing), close };
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

/**
 * `wal_autocheckpoint`: pages are written back to the file once for many commits; 4,000 pages (16 MB of log) gave most
 * of what a larger log gives, and 16,000 stopped the event loop for up to 50 ms instead of 20 to 30.
 */
const settings = `
  PRAGMA busy_timeout = 0;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;
`;

async function connect(file: string): Promise<DatabaseSync> {
  const handle = opened(file);
  try {
    await whenUnlocked(() => {
      handle.exec(settings);
      const mode = handle.prepare("PRAGMA journal_mode = WAL").get();
      if (mode?.["journal_mode"] !== "wal") {
        throw new TidingsError("storage_unavailable", "The database can't use a write-ahead log where its file is.");
      }
    });
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function opened(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw translated(error);
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
