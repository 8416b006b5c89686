/** Limits how many tasks run at once. Further tasks wait and run in the order of arrival. */
export class Semaphore {
  readonly #maxWaiting: number;
  readonly #refuse: () => Error;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `refuse` creates the error for a task that arrives while `maxWaiting` others wait. */
  constructor(capacity: number, maxWaiting: number, refuse: () => Error) {
    this.#free = capacity;
    this.#maxWaiting = maxWaiting;
    this.#refuse = refuse;
  }

  /**
   * Runs `task` when there is capacity.
   * @throws the error of `refuse`, and the errors of `task`
   */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    try {
      return await task();
    } finally {
      // The capacity goes to the task that has waited longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw this.#refuse();
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}
