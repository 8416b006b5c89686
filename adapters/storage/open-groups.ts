import { TidingsError } from "../../src/kernel/index.ts";

/** The groups of a storage that have begun and not ended. */
export class OpenGroups {
  readonly #open = new Set<symbol>();
  /** Called when no group is open. Several engines may close the storage at once. */
  readonly #onIdle: (() => void)[] = [];

  begin(): symbol {
    const group = Symbol("group");
    this.#open.add(group);
    return group;
  }

  has(group: symbol): boolean {
    return this.#open.has(group);
  }

  /** @throws TidingsError `storage_unavailable` when the group has ended */
  refuseEnded(group: symbol): void {
    if (!this.has(group)) {
      throw new TidingsError("storage_unavailable", "The group has already ended.");
    }
  }

  /** Repeated calls have no effect. */
  end(group: symbol): void {
    this.#open.delete(group);
    if (this.#open.size > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when no group is open. */
  async idle(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => void this.#onIdle.push(resolve));
  }
}
