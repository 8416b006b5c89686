import type { Group, Index, Lookup, Row, StoragePort } from "../ports/index.ts";
import { encodeKey } from "./keys.ts";
import { type AnySeen, isPrimaryKey, laidOver, mostToRead, type Overlay } from "./overlay.ts";

export type Rows = readonly AnySeen[];

/** Where a transaction reads what is committed. */
export interface Snapshot {
  /** At once where the storage reads at once: a promise for each read would cost more than most reads. `id` is the encoded key. */
  read(lookup: Lookup, id: string): Rows | Promise<Rows>;
}

export interface GroupSnapshotOptions {
  readonly group: Group;
  /** What the group before this one writes, whose commit is under way. */
  readonly ahead: Overlay | undefined;
  readonly port: Pick<StoragePort, "capabilities" | "turn">;
}

interface Asked {
  readonly lookup: Lookup;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What the commands of one group read: each row once. Where the storage doesn't answer at once, what commands that run side by
 * side ask for in one turn of the event loop is read together.
 */
export class GroupSnapshot implements Snapshot {
  readonly #options: GroupSnapshotOptions;
  readonly #known = new Map<Index, Map<string, Rows | Promise<Rows>>>();
  #asked: Asked[] = [];

  constructor(options: GroupSnapshotOptions) {
    this.#options = options;
  }

  read(lookup: Lookup, id: string): Rows | Promise<Rows> {
    const { index, limit, claim } = lookup;
    let known = this.#known.get(index);
    if (known === undefined) {
      this.#known.set(index, (known = new Map<string, Rows | Promise<Rows>>()));
    }
    // A key as it is has no space in front of its first colon.
    const place =
      limit === 1 && claim !== true ? id : `${claim === true ? "claim " : ""}${limit} ${id}`;
    const before = known.get(place);
    if (before !== undefined) return before;
    const rows = this.#read(lookup, id);
    known.set(place, rows);
    if (!(rows instanceof Promise)) return rows;
    return rows.then(
      (found) => {
        known.set(place, found);
        return found;
      },
      (error: unknown) => {
        known.delete(place);
        throw error;
      },
    );
  }

  /** Asks for all of it at once: what commands read that are run again. */
  async warm(lookups: readonly Lookup[]): Promise<void> {
    await Promise.all(lookups.map(async (lookup) => this.read(lookup, encodeKey(lookup.key))));
  }

  #read(lookup: Lookup, id: string): Rows | Promise<Rows> {
    const { ahead } = this.#options;
    if (ahead === undefined) return this.#stored(lookup);
    if (isPrimaryKey(lookup) && lookup.claim !== true) {
      // What the group before writes of this row is all that there will be of it.
      const touched = ahead.find(lookup.index.collection, id);
      if (touched === undefined) return this.#stored(lookup);
      return touched.row === undefined ? [] : [touched.row];
    }
    const rows = this.#stored({ ...lookup, limit: mostToRead(lookup, ahead) });
    return rows instanceof Promise
      ? rows.then((found) => laidOver(found, lookup, ahead))
      : laidOver(rows, lookup, ahead);
  }

  #stored(lookup: Lookup): Rows | Promise<Rows> {
    const { group, port } = this.#options;
    if (!port.capabilities.synchronous) return this.#ask(lookup);
    const answer = group.read([lookup]);
    return answer instanceof Promise ? answer.then(first) : first(answer);
  }

  #ask(lookup: Lookup): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ lookup, resolve, reject });
      if (this.#asked.length === 1) void this.#options.port.turn().then(() => this.#fetch());
    });
  }

  async #fetch(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const found = await this.#options.group.read(asked.map(({ lookup }) => lookup));
      for (const [i, { resolve }] of asked.entries()) resolve((found[i] ?? []) as Rows);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

const first = ([rows = []]: readonly (readonly Row[])[]): Rows => rows as Rows;
