import { hasMethods } from "../../../../src/kernel/index.ts";
import {
  silent,
  type Collection,
  type Group,
  type Lookup,
  type Row,
  type Schema,
  type StoragePort,
  type Write,
} from "../../../../src/ports/index.ts";
import { Store } from "../../../../src/store/index.ts";
import { seededRandom } from "../../simulated/seeded-random.ts";
import { virtualClock } from "../../simulated/virtual-clock.ts";
import { checkReturned } from "../suite.ts";
import {
  entries,
  entriesByPosition,
  entry,
  item,
  itemById,
  items,
  places,
  schema,
  type Item,
} from "./collections.ts";

export const insert = (row: Item): Write => ({
  kind: "insert",
  collection: items,
  row: { ...row, version: 1 },
});
/** Inserts an item with this id and the default values. */
export const insertNew = (id: string): Write => insert(item(id));
export const place = (country: string, town: string): Write => ({
  kind: "insert",
  collection: places,
  row: { country, town, people: 1, version: 1 },
});
export const update = (id: string, version: number, row: Item, ...changed: string[]): Write => ({
  kind: "update",
  collection: items,
  key: [id],
  version,
  row: { ...row, version: version + 1 },
  changed,
});
/** Adds a row to the log. */
export const log = (id: string): Write => ({
  kind: "insert",
  collection: entries,
  row: { ...entry(id), version: 1 },
});
export const byId = (id: string): Lookup => ({ index: itemById, key: [id], limit: 1 });
/** The rows that a look-up returns. */
export const rowsOf = async (port: StoragePort, lookup: Lookup): Promise<readonly Row[]> => {
  const [rows = []] = await port.reader.get([lookup]);
  return rows;
};
export const allIds = async (port: StoragePort): Promise<unknown[]> =>
  ids(await port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 20 }));
/** The ids of the log's rows, by position. */
export const idsInLog = async (port: StoragePort): Promise<unknown[]> => {
  const all = { index: entriesByPosition, prefix: [], order: "ascending", limit: 20 } as const;
  return ids(await port.reader.range(all));
};
export const ids = (rows: readonly Row[] | undefined): unknown[] =>
  (rows ?? []).map(({ id }) => id);
/** Inserts a row that violates its type, like a bug. */
export const broken = (collection: Collection, row: Row): Write => ({
  kind: "insert",
  collection,
  row,
});

export type StorageChecks = { readonly [sentence: string]: (ports: OpenPorts) => Promise<void> };

/** Opens connections for one test and closes them at its end. */
export class OpenPorts {
  readonly #connect: () => StoragePort;
  readonly #opened: { close(): Promise<void> }[] = [];

  constructor(connect: () => StoragePort) {
    this.#connect = connect;
  }

  async port(described: Schema = schema): Promise<StoragePort> {
    const port = this.#connected();
    this.#opened.push(port);
    await port.open(described);
    return port;
  }

  /** Migrates the storage over a connection that is not open. */
  async migrate(described: Schema): Promise<void> {
    const port = this.#connected();
    this.#opened.push(port);
    await port.migrate(described);
  }

  /**
   * `beforeCommit` runs before each commit reaches the storage. It can wait or write as a rival.
   */
  async store(beforeCommit?: (writes: readonly Write[]) => void | Promise<void>): Promise<Store> {
    const port = this.#connected();
    const store = new Store({
      port: beforeCommit === undefined ? port : intercepted(port, beforeCommit),
      schema,
      clock: virtualClock(),
      random: seededRandom(this.#opened.length),
      logger: silent,
    });
    this.#opened.push(store);
    await store.open();
    return store;
  }

  async close(): Promise<void> {
    for (const each of this.#opened.toReversed()) await each.close();
  }

  #connected(): StoragePort {
    const port = this.#connect();
    checkReturned(
      "connect()",
      port,
      "a `StoragePort` with all methods that are not optional",
      hasMethods(port, "open", "migrate", "migrationSql", "begin", "yieldToEventLoop", "close") &&
        hasMethods(port.reader, "get", "range", "search"),
    );
    return port;
  }
}

type OptionalMethod = "transaction" | "host" | "isInsideTransaction" | "admit" | "signals";
type PortWith<M extends OptionalMethod> = StoragePort & Required<Pick<StoragePort, M>>;

/** A port with optional methods. Undefined if the storage does not have all of them. */
export async function portWith<M extends OptionalMethod>(
  ports: OpenPorts,
  ...methods: readonly M[]
): Promise<PortWith<M> | undefined> {
  const port = await ports.port();
  return methods.every((name) => port[name] !== undefined) ? (port as PortWith<M>) : undefined;
}

/** Commits the writes as one group. */
export async function write(port: StoragePort, ...writes: readonly Write[]): Promise<void> {
  await port.begin().commit(writes);
}

function intercepted(
  port: StoragePort,
  beforeCommit: (writes: readonly Write[]) => void | Promise<void>,
): StoragePort {
  return {
    capabilities: port.capabilities,
    reader: port.reader,
    open: (described) => port.open(described),
    migrate: (described) => port.migrate(described),
    migrationSql: (described, from) => port.migrationSql(described, from),
    begin(how): Group {
      const group = port.begin(how);
      return {
        read: (lookups) => group.read(lookups),
        abort: () => group.abort(),
        async commit(writes) {
          await beforeCommit(writes);
          await group.commit(writes);
        },
      };
    },
    yieldToEventLoop: () => port.yieldToEventLoop(),
    close: () => port.close(),
  };
}
