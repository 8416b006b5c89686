/** Calls of the host application and of clients. A stop waits for them. */
export class RunningCalls {
  readonly #running = new Set<Promise<unknown>>();

  async run<T>(call: () => Promise<T>): Promise<T> {
    const running = call();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when no call runs. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
