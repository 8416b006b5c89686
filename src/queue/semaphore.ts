/** Bounds how many tasks run at once. Further tasks wait, and run in the order in which they came. */
export class Semaphore {
  readonly #maxWaiting: number;
  readonly #refuse: () => Error;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `refuse` makes the error for a task that comes while `maxWaiting` others wait. */
  constructor(places: number, maxWaiting: number, refuse: () => Error) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
    this.#refuse = refuse;
  }

  /** Runs `task` when a place is free. @throws the error of `refuse`, and what `task` throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
    try {
      return await task();
    } finally {
      // The place goes to the task that waits longest.
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
