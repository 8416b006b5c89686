/** The listeners for commits of all engines that use one storage object. */
export class CommitListeners {
  readonly #listeners = new Set<() => void>();

  /** Returns a function that removes the listener. */
  add(listener: () => void): () => void {
    // Wrapped, so that one function can be registered twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Calls all listeners in a microtask, so that an engine learns of a commit after it, as if
   * another process had committed. The storage does not know which of its engines committed, so it
   * calls that engine's listener too.
   */
  callSoon(): void {
    for (const listener of this.#listeners) queueMicrotask(listener);
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  clear(): void {
    this.#listeners.clear();
  }
}
