import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What a stop of the engine waits for: the calls of the host application and of clients, and the
 * jobs. Functions of the host application that they call, such as policies, actions and handlers of
 * consumers, may call the engine meanwhile, since they would fail without it.
 */
export class AwaitedWork {
  readonly #running = new Set<Promise<unknown>>();
  readonly #current = new AsyncLocalStorage<{ isRunning: boolean }>();

  async run<T>(work: () => Promise<T>): Promise<T> {
    const mark = { isRunning: true };
    const running = this.#current.run(mark, work);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      // What the work has left running is not awaited any more.
      mark.isRunning = false;
    }
  }

  /** Whether the caller belongs to such work, which has not ended. */
  isInside(): boolean {
    return this.#current.getStore()?.isRunning === true;
  }

  /** Resolves when nothing runs. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}
