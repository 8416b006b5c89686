import {
  type Collection,
  type Group,
  type Lookup,
  type Row,
  silent,
  type StoragePort,
  type Write,
} from "../../../src/ports/index.ts";
import { entries, entry, type Item, itemById, items, places, schema } from "./collections.ts";
import { type ErrorCode, TidingsError } from "../../../src/kernel/index.ts";
import { Store } from "../../../src/store/index.ts";
import { seededRandom, virtualClock } from "../simulated.ts";

export const insert = (row: Item): Write => ({
  kind: "insert",
  collection: items,
  row: { ...row, version: 1 },
});
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
export const log = (id: string): Write => ({
  kind: "insert",
  collection: entries,
  row: { ...entry(id), version: 1 },
});
export const byId = (id: string): Lookup => ({ index: itemById, key: [id], limit: 1 });
export const first = async (port: StoragePort, lookup: Lookup): Promise<readonly Row[]> => {
  const [rows = []] = await port.reader.get([lookup]);
  return rows;
};
export const allIds = async (port: StoragePort): Promise<unknown[]> =>
  ids(await port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 20 }));
export const ids = (rows: readonly Row[] | undefined): unknown[] =>
  (rows ?? []).map(({ id }) => id);
/** Inserts a row that violates its type, like a bug. */
export const broken = (collection: Collection, row: Row): Write => ({
  kind: "insert",
  collection,
  row,
});

export type Cases = { readonly [sentence: string]: (ports: OpenPorts) => Promise<void> };

/** Opens connections for one test and closes them at its end. */
export class OpenPorts {
  readonly #connect: () => StoragePort;
  readonly #opened: { close(): Promise<void> }[] = [];

  constructor(connect: () => StoragePort) {
    this.#connect = connect;
  }

  async port(): Promise<StoragePort> {
    const port = this.#connect();
    this.#opened.push(port);
    await port.open(schema);
    return port;
  }

  /**
   * `beforeCommit` runs before each commit reaches the storage. It can wait or write as a rival.
   */
  async store(beforeCommit?: (writes: readonly Write[]) => void | Promise<void>): Promise<Store> {
    const port = this.#connect();
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

/** A check failed. `promise` reports it. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string, cause?: unknown) {
    super(`expected ${expected}, got ${got}`, cause === undefined ? undefined : { cause });
    this.expected = expected;
    this.got = got;
  }
}

/**
 * Runs the checks of one promise of a port. An error that they throw becomes one that says what was
 * expected, what the port promises and what happened.
 */
export async function promise(
  port: "storage" | "transport",
  text: string,
  check: () => Promise<void>,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    const { expected, got } =
      error instanceof Mismatch
        ? error
        : new Mismatch("no error", error instanceof Error ? String(error) : display(error));
    throw new Error(
      `expected ${expected}, because the ${port} port promises "${text}", got ${got}`,
      {
        cause: error,
      },
    );
  }
}

/** Fails unless both values are equal, compared by content. `what` names the value. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!isEqual(actual, expected)) {
    throw new Mismatch(`${display(expected)} (${what})`, display(actual));
  }
}

/** Fails unless the condition holds. `expected` says what it means, and `got` is what was found. */
export function holds(condition: boolean, expected: string, got: unknown): void {
  if (!condition) throw new Mismatch(expected, display(got));
}

/** Returns the error that `work` fails with. Fails when it does not. */
export async function failure(work: () => unknown, what: string): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Mismatch(`an Error (${what})`, display(error), error);
  }
  throw new Mismatch(`an error (${what})`, "none");
}

export async function failsAs(
  kind: new () => Error,
  work: () => unknown,
  what: string,
): Promise<void> {
  const error = await failure(work, what);
  if (!(error instanceof kind)) {
    throw new Mismatch(`${kind.name} (${what})`, String(error), error);
  }
}

export async function failsWith(
  code: ErrorCode,
  work: () => unknown,
  what: string,
): Promise<TidingsError> {
  const error = await failure(work, what);
  if (error instanceof TidingsError && error.code === code) return error;
  throw new Mismatch(`the error ${code} (${what})`, String(error), error);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = new Map(Object.entries(a));
  const right = new Map(Object.entries(b));
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
  );
}

function display(value: unknown): string {
  if (typeof value === "bigint" || value instanceof Error) return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
