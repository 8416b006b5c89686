import { StorageConflict } from "../../../../src/ports/index.ts";

/** A group as the shared storage sees it: whether it has ended, and which group it waits for. */
export class GroupState {
  #before: GroupState | undefined;
  readonly #ended = Promise.withResolvers<void>();
  #isOver = false;
  #waitsFor: GroupState | undefined;

  constructor(last: GroupState | undefined) {
    // Skips a predecessor that has ended, so that ended groups can be garbage-collected.
    this.#before = last?.isOver === true ? last.before : last;
  }

  /** The previous group on the same connection that has not ended. */
  get before(): GroupState | undefined {
    while (this.#before?.isOver === true) this.#before = this.#before.#before;
    return this.#before;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.#ended.resolve();
  }

  /**
   * Waits until nothing blocks this group. Something else may block it by the time the caller goes
   * on. Throws a conflict if the blocker waits for this group, as a database does on a deadlock.
   */
  async waitFor(blocker: () => GroupState | undefined): Promise<void> {
    for (let other = blocker(); other !== undefined && !this.#isOver; other = blocker()) {
      for (let next: GroupState | undefined = other; next !== undefined; next = next.#waitsFor) {
        if (next === this) throw new StorageConflict("two groups wait for each other");
      }
      this.#waitsFor = other;
      await other.#ended.promise;
      this.#waitsFor = undefined;
    }
  }
}
