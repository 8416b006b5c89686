import { playbooks } from "../../src/agents/playbooks/rows.ts";
import { agents } from "../../src/agents/rows.ts";
import { contacts, type ContactRow } from "../../src/contacts/rows.ts";
import type { Write } from "../../src/ports/storage.ts";
import { webhooks } from "../../src/webhooks/rows.ts";

const deletable: readonly Write["collection"][] = [webhooks, agents, playbooks];

/**
 * What happened to contacts, webhooks, agents and playbooks, according to the commits. Engines' answers do not
 * count.
 */
export class ResourceHistory {
  /** Every contact that was ever created. */
  readonly created = new Set<string>();
  readonly #mergedInto = new Map<string, string>();
  /** The contacts that one commit erased together, by the id of each. */
  readonly #erased = new Map<string, readonly string[]>();
  /** Webhooks, agents and playbooks. */
  readonly #deleted = new Set<string>();

  apply(writes: readonly Write[]): void {
    const erased = writes
      .filter((write) => write.collection === contacts && write.kind === "remove")
      .flatMap((write) => ("key" in write ? [String(write.key[2])] : []));
    for (const id of erased) this.#erased.set(id, erased);
    for (const write of writes) {
      const canBeDeleted = deletable.some((each) => each === write.collection);
      if (canBeDeleted && write.kind === "remove") this.#deleted.add(String(write.key[2]));
      if (write.collection !== contacts) continue;
      if (write.kind !== "insert" && write.kind !== "update") continue;
      const { id, merged_into } = write.row as unknown as ContactRow;
      this.created.add(id);
      if (merged_into !== null) this.#mergedInto.set(id, merged_into);
    }
  }

  /** The contact itself, or the contact that it was merged into, however many merges there were. */
  survivorOf(id: string): string {
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
    return this.#erased.has(this.survivorOf(id));
  }

  /** Whether a contact is erased, or a webhook, an agent or a playbook is deleted. */
  isGone(id: string): boolean {
    return this.#deleted.has(id) || this.isErased(id);
  }

  get merged(): readonly string[] {
    return [...this.#mergedInto.keys()];
  }

  get erased(): readonly string[] {
    return [...this.#erased.keys()];
  }

  /** The erased contact and those merged into it, which may have been merged in the same commit. */
  erasedTogether(id: string): readonly string[] {
    return this.#erased.get(id) ?? [];
  }
}
