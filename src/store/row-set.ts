import { getOrInsert } from "../kernel/index.ts";
import type { Collection } from "../ports/index.ts";
import { KeyMap } from "./key-map.ts";
import { isWritten, type Overlay } from "./overlay.ts";

/** The rows that several commands write or hold. */
export class RowSet {
  /** Whether a command writes the row, by its primary key. If not, it is only held. */
  readonly #isWritten = new Map<Collection, KeyMap<boolean>>();

  add(overlay: Overlay): void {
    for (const [collection, entry] of overlay.entries()) {
      const rows = getOrInsert(this.#isWritten, collection, () => new KeyMap());
      rows.set(entry.key, isWritten(entry) || rows.get(entry.key) === true);
    }
  }

  /** Whether the order of the command and of those in the set matters: one writes a row of both. */
  overlaps(overlay: Overlay): boolean {
    for (const [collection, entry] of overlay.entries()) {
      const known = this.#isWritten.get(collection)?.get(entry.key);
      if (known !== undefined && (known || isWritten(entry))) return true;
    }
    return false;
  }
}
