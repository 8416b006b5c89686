import type { TidingsError } from "../../../../src/kernel/index.ts";
import { maxWaitMs } from "./pool-clients.ts";

/**
 * Limits how many connections of the pool one kind of work holds. The pool serves its callers in
 * the order of arrival, so a burst of this work would otherwise go before all others.
 */
export class PoolShare {
  readonly #exhausted: () => TidingsError;
  /** Functions that let a caller begin, in the order of arrival. */
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** `exhausted` creates the error for a caller that has waited for too long. */
  constructor(connections: number, exhausted: () => TidingsError) {
    this.#free = connections;
    this.#exhausted = exhausted;
  }

  /**
   * Runs `work`, which takes one connection and releases it, when it may.
   * @throws TidingsError the error of `exhausted` after 10 s, and the errors of `work`
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(this.#exhausted());
      }, maxWaitMs);
      const begin = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(begin);
        resolve();
      };
      this.#waiting.add(begin);
    });
  }
}
