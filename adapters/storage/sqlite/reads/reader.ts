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
    const { path, reads, readerConnection } = this.#storage();
    return whenUnlocked(path, () => lookups.map((lookup) => reads.get(readerConnection, lookup)));
  }

  async range(range: Range): Promise<readonly Row[]> {
    const { path, reads, readerConnection } = this.#storage();
    return whenUnlocked(path, () => reads.range(readerConnection, range));
  }

  async search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]> {
    const { path, tableOf, readerConnection } = this.#storage();
    return whenUnlocked(path, () =>
      searches.map((each) => search(readerConnection, tableOf(each.index.collection), each)),
    );
  }
}
