import { getOrInsert } from "../../kernel/index.ts";
import type { Collection } from "../../ports/index.ts";
import { KeyMap } from "../transactions/key-map.ts";
import { isPrimaryKey, isWritten } from "../transactions/touched-rows.ts";
import type { BodyRun } from "./body-runner.ts";

/** The rows that several commands write or hold. */
export class RowSet {
  /** Whether a command writes the row, by its primary key. If not, it is only held. */
  readonly #isWritten = new Map<Collection, KeyMap<boolean>>();
  /** Those that a command inserts. Another transaction may insert a row with the same key. */
  readonly #inserted = new Map<Collection, KeyMap<true>>();

  add({ overlay }: BodyRun): void {
    for (const [collection, entry] of overlay.entries()) {
      const rows = getOrInsert(this.#isWritten, collection, () => new KeyMap());
      rows.set(entry.key, isWritten(entry) || rows.get(entry.key) === true);
      if (entry.base !== undefined) continue;
      getOrInsert(this.#inserted, collection, () => new KeyMap()).set(entry.key, true);
    }
  }

  /**
   * Whether the order of a later command and of those in the set matters: one writes a row of both,
   * or the later one read a row that they insert. It may have found the row of another transaction.
   */
  overlaps({ overlay, lookups }: BodyRun): boolean {
    for (const [collection, entry] of overlay.entries()) {
      const known = this.#isWritten.get(collection)?.get(entry.key);
      if (known !== undefined && (known || isWritten(entry))) return true;
    }
    return lookups.some(
      (lookup) =>
        isPrimaryKey(lookup) && this.#inserted.get(lookup.index.collection)?.get(lookup.key),
    );
  }
}
