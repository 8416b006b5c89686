import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Functions of the host application that a stop of the engine waits for. What they call is accepted
 * meanwhile, since they would fail without it.
 */
export class AwaitedWork {
  readonly #current = new AsyncLocalStorage<{ isRunning: boolean }>();

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const mark = { isRunning: true };
    try {
      return await this.#current.run(mark, work);
    } finally {
      // What it has left running is not awaited any more.
      mark.isRunning = false;
    }
  }

  /** Whether the caller belongs to such a function, which has not ended. */
  isInside(): boolean {
    return this.#current.getStore()?.isRunning === true;
  }
}
