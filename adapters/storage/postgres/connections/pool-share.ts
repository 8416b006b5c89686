import type { TidingsError } from "../../../../src/kernel/index.ts";
import { checkMs, maxWaitMs } from "./pool-clients.ts";

interface PoolShareOptions {
  /** How many connections the work may hold. */
  readonly connections: number;
  /** Why no caller may begin any more. Undefined if callers may begin. */
  readonly refusal: () => TidingsError | undefined;
  /** Creates the error for a caller that has waited for too long. */
  readonly exhausted: () => TidingsError;
}

/**
 * Limits how many connections of the pool one kind of work holds. The pool serves its callers in
 * the order of arrival, so a burst of this work would otherwise go before all others.
 */
export class PoolShare {
  readonly #options: PoolShareOptions;
  /** Functions that let a caller begin, in the order of arrival. */
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(options: PoolShareOptions) {
    this.#options = options;
    this.#free = options.connections;
  }

  /**
   * Runs `work`, which takes one connection and releases it, when it may. `work` gets the time that
   * it has waited, a multiple of `checkMs`: the wait for its connection continues this wait.
   * @throws TidingsError the error of `refusal`, soon after there is one, the error of `exhausted`
   *   after 10 s, and the errors of `work`
   */
  async run<T>(work: (waitedMs: number) => Promise<T>): Promise<T> {
    let waitedMs = 0;
    if (this.#free > 0) this.#free--;
    else waitedMs = await this.#wait();
    try {
      return await work(waitedMs);
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  /** Returns how long it has waited, in milliseconds. */
  #wait(): Promise<number> {
    const { refusal, exhausted } = this.#options;
    return new Promise((resolve, reject) => {
      let waitedMs = 0;
      const end = (): void => {
        clearInterval(timer);
        this.#waiting.delete(begin);
      };
      const begin = (): void => {
        end();
        resolve(waitedMs);
      };
      const timer = setInterval(() => {
        waitedMs += checkMs;
        const reason = refusal() ?? (waitedMs === maxWaitMs ? exhausted() : undefined);
        if (reason === undefined) return;
        end();
        reject(reason);
      }, checkMs);
      this.#waiting.add(begin);
    });
  }
}
