import { agents } from "../../src/agents/rows.ts";
import { contacts, type ContactRow } from "../../src/contacts/rows.ts";
import { webhooks } from "../../src/webhooks/rows.ts";
import type { Write } from "../../src/ports/storage.ts";

/** What became of contacts, by what was committed and not by what engines say. */
export class Registry {
  /** Every contact that ever was. */
  readonly made = new Set<string>();
  readonly #mergedInto = new Map<string, string>();
  /** With whom they went, in one commit. */
  readonly #erased = new Map<string, readonly string[]>();

  readonly #deleted = new Set<string>();

  heed(writes: readonly Write[]): void {
    const gone = writes
      .filter((write) => write.collection === contacts && write.kind === "remove")
      .flatMap((write) => ("key" in write ? [String(write.key[2])] : []));
    for (const id of gone) this.#erased.set(id, gone);
    for (const write of writes) {
      const canBeDeleted = write.collection === webhooks || write.collection === agents;
      if (canBeDeleted && write.kind === "remove") this.#deleted.add(String(write.key[2]));
      if (write.collection !== contacts) continue;
      if (write.kind !== "insert" && write.kind !== "update") continue;
      const { id, merged_into } = write.row as unknown as ContactRow;
      this.made.add(id);
      if (merged_into !== null) this.#mergedInto.set(id, merged_into);
    }
  }

  /** Who a contact is now: itself, or whoever took it in last. */
  now(id: string): string {
    let current = id;
    for (
      let next = this.#mergedInto.get(current);
      next !== undefined;
      next = this.#mergedInto.get(current)
    ) {
      current = next;
    }
    return current;
  }

  isMerged(id: string): boolean {
    return this.#mergedInto.has(id);
  }

  isErased(id: string): boolean {
    return this.#erased.has(this.now(id));
  }

  /** A contact that is erased, or a webhook or an agent that is deleted. */
  isGone(id: string): boolean {
    return this.#deleted.has(id) || this.isErased(id);
  }

  get merged(): readonly string[] {
    return [...this.#mergedInto.keys()];
  }

  get erased(): readonly string[] {
    return [...this.#erased.keys()];
  }

  /** A contact that was erased and those that went with it: what was merged into it, maybe in that very commit. */
  goneWith(id: string): readonly string[] {
    return this.#erased.get(id) ?? [];
  }
}
