import { getOrInsert } from "../../kernel/index.ts";
import type {
  Collection,
  Group,
  Index,
  KeyValue,
  Lookup,
  Row,
  StoragePort,
} from "../../ports/index.ts";
import { KeyMap } from "./key-map.ts";
import { rowsToRead, withOverlay, type Overlay } from "./overlay.ts";
import type { RecentRows } from "./recent-rows.ts";
import { isPrimaryKey, type VersionedRow } from "./touched-rows.ts";

export type Rows = readonly VersionedRow[];

interface GroupSnapshotOptions {
  readonly group: Group;
  /** The writes of the previous group, whose commit is in progress. */
  readonly previous: Overlay | undefined;
  /** Undefined if the group must read everything from the storage. */
  readonly recent: RecentRows | undefined;
  readonly port: Pick<StoragePort, "capabilities" | "yieldToEventLoop">;
}

/** Lookups that are read together, and the rows of each. */
interface Batch {
  readonly lookups: Lookup[];
  readonly rows: Promise<readonly Rows[]>;
}

/** The rows of the lookups that were read, by key. */
type KnownRows = KeyMap<Rows | Promise<Rows>>;

/**
 * The committed rows that one group of commands reads. Each lookup is read once. On an asynchronous
 * storage, lookups that concurrent commands make before the event loop continues are read in one
 * batch.
 */
export class GroupSnapshot {
  readonly #options: GroupSnapshotOptions;
  /** The lookups that were read, by index and limit. */
  readonly #known = new Map<Index, Map<number, KnownRows>>();
  /** Those in descending order. */
  readonly #descending = new Map<Index, Map<number, KnownRows>>();
  /** Those that locked their rows. A look-up that locks is in ascending order. */
  readonly #locked = new Map<Index, Map<number, KnownRows>>();
  /** The batch that begins when the event loop continues. */
  #next: Batch | undefined;
  /** Lookups that commands are going to make. The next batch reads them, too. */
  readonly #planned: Lookup[] = [];
  /** Whether a command has taken a row from memory that another process may have changed. */
  hasGivenRecent = false;

  constructor(options: GroupSnapshotOptions) {
    this.#options = options;
  }

  /**
   * Returns rows instead of a promise when the storage is synchronous: a promise would cost more
   * than most reads.
   */
  read(lookup: Lookup): Rows | Promise<Rows> {
    return this.#knownRows(lookup).getOrInsert(lookup.key, () => this.#read(lookup));
  }

  #knownRows({ index, limit, order, lock }: Lookup): KnownRows {
    const inOrder = order === "descending" ? this.#descending : this.#known;
    const indexes = lock === true ? this.#locked : inOrder;
    const limits = getOrInsert(indexes, index, newLimits);
    return getOrInsert(limits, limit, newRows);
  }

  /**
   * Returns the row with a primary key as the last commit of this process left it. Undefined if it
   * is not kept.
   */
  recent(collection: Collection, key: readonly KeyValue[]): VersionedRow | undefined {
    const { previous, recent } = this.#options;
    // Rows that the previous group writes are not committed yet. A normal read returns them.
    if (recent === undefined || previous?.find(collection, key) !== undefined) return undefined;
    const row = recent.find(collection, key);
    if (row !== undefined) this.hasGivenRecent = true;
    return row;
  }

  /** Adds reads to the next batch, so that `read` returns them later. */
  prefetch(plan: () => readonly Lookup[]): void {
    // Starts no batch. If no command read anything, the group could end before the batch begins.
    if (!this.#options.port.capabilities.synchronous) this.#planned.push(...plan());
  }

  /** Reads lookups in one batch. */
  async readAll(lookups: readonly Lookup[]): Promise<void> {
    await Promise.all(lookups.map(async (lookup) => this.read(lookup)));
  }

  #read(lookup: Lookup): Rows | Promise<Rows> {
    const { previous } = this.#options;
    if (previous === undefined) return this.#stored(lookup);
    if (isPrimaryKey(lookup) && lookup.lock !== true) {
      // The row will be what the previous group writes.
      const touched = previous.find(lookup.index.collection, lookup.key);
      if (touched === undefined) return this.#stored(lookup);
      return touched.row === undefined ? [] : [touched.row];
    }
    const rows = this.#stored({ ...lookup, limit: rowsToRead(lookup, previous) });
    return rows instanceof Promise
      ? rows.then((found) => withOverlay(found, lookup, previous))
      : withOverlay(rows, lookup, previous);
  }

  #stored(lookup: Lookup): Rows | Promise<Rows> {
    const { group, port } = this.#options;
    if (!port.capabilities.synchronous) return this.#enqueue(lookup);
    const found = group.read([lookup]);
    return found instanceof Promise ? found.then(first) : first(found);
  }

  #enqueue(lookup: Lookup): Promise<Rows> {
    this.#next ??= this.#nextBatch();
    const { lookups, rows } = this.#next;
    const place = lookups.push(lookup) - 1;
    return rows.then((found) => found[place] ?? []);
  }

  #nextBatch(): Batch {
    const lookups: Lookup[] = [];
    const begins = this.#options.port.yieldToEventLoop();
    return { lookups, rows: begins.then(() => this.#fetch(lookups)) };
  }

  async #fetch(lookups: readonly Lookup[]): Promise<readonly Rows[]> {
    // They join this batch. If it fails, the commands that wait for them fail.
    this.readAll(this.#planned.splice(0)).catch(() => {});
    this.#next = undefined;
    return (await this.#options.group.read(lookups)) as readonly Rows[];
  }
}

const newLimits = (): Map<number, KnownRows> => new Map();
const newRows = (): KnownRows => new KeyMap();
const first = ([rows = []]: readonly (readonly Row[])[]): Rows => rows as Rows;
