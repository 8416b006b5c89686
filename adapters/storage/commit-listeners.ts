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

  /** Calls all listeners, after a commit of another connection. */
  call(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Calls all listeners, after a commit of one of the engines. The storage does not know which one
   * committed, so it calls that engine's listener too. The calls come in a microtask, as if another
   * process had committed.
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
