import type { Lookup, Range, Reader, Row, Search } from "../../../../src/ports/index.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import type { OpenStorage } from "../open-storage.ts";
import { search } from "../tables/word-index.ts";

/** Reads committed rows on a connection of its own. */
export class SqliteReader implements Reader {
  readonly #storage: () => OpenStorage;

  /** `storage` throws while the storage is not open. */
  constructor(storage: () => OpenStorage) {
    this.#storage = storage;
  }

  async get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    return this.#whenUnlocked(({ reads, readerConnection }) =>
      lookups.map((lookup) => reads.get(readerConnection, lookup)),
    );
  }

  async range(range: Range): Promise<readonly Row[]> {
    return this.#whenUnlocked(({ reads, readerConnection }) =>
      reads.range(readerConnection, range),
    );
  }

  async search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]> {
    return this.#whenUnlocked(({ tableOf, readerConnection }) =>
      searches.map((each) => search(readerConnection, tableOf(each.index.collection), each)),
    );
  }

  #whenUnlocked<T>(read: (storage: OpenStorage) => T): T | Promise<T> {
    const storage = this.#storage();
    return whenUnlocked(storage.files.path, () => read(storage), storage.isAbandoned);
  }
}
