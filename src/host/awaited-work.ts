import { AsyncLocalStorage } from "node:async_hooks";

interface Running {
  isRunning: boolean;
  readonly mayLeave: boolean;
  /** Whether the call came from within other awaited work. */
  readonly isInner: boolean;
}

/**
 * What a stop of the engine waits for: the calls of the host application and of clients, the jobs,
 * and the handlers of events. Functions of the host application that they call, such as policies,
 * actions and handlers of consumers, may call the engine meanwhile, since they would fail without
 * it.
 */
export class AwaitedWork {
  /** The work that `ended` waits for. */
  readonly #awaited = new Set<Running>();
  readonly #current = new AsyncLocalStorage<Running>();
  #onEnded: (() => void) | undefined;

  /** `mayLeave`: whether a stop that the work calls itself need not wait for it (`leave`). */
  async run<T>(work: () => Promise<T>, { mayLeave = false } = {}): Promise<T> {
    const running = { isRunning: true, mayLeave, isInner: this.isInside() };
    this.#awaited.add(running);
    try {
      return await this.#current.run(running, work);
    } finally {
      // What the work has left running is not awaited any more.
      running.isRunning = false;
      this.#leave(running);
    }
  }

  /** Whether the caller belongs to awaited work that has not ended. */
  isInside(): boolean {
    return this.#current.getStore()?.isRunning === true;
  }

  /** Whether the caller belongs to awaited work that no other awaited work has called. */
  isOutermost(): boolean {
    return this.#current.getStore()?.isInner === false;
  }

  /**
   * Called when a stop begins. The work that the caller belongs to may wait for the stop, so the
   * stop does not wait for it. A call cannot leave: its transaction ends before the storage closes.
   */
  leave(): void {
    const running = this.#current.getStore();
    if (running?.mayLeave === true) this.#leave(running);
  }

  /** Resolves when nothing runs that a stop waits for. */
  async ended(): Promise<void> {
    while (this.#awaited.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onEnded = resolve;
      });
    }
  }

  #leave(running: Running): void {
    this.#awaited.delete(running);
    if (this.#awaited.size === 0) this.#onEnded?.();
  }
}
