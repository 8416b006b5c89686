interface Clock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Returns the result of `work`, or the result of `late` if the work takes longer than `ms`
 * milliseconds. The signal passed to `work` aborts at the deadline or when `outer` aborts. Work
 * that ignores the signal is not awaited. Rejects with the reason of `outer` when that aborts. If
 * it has aborted before, the work does not begin.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
  outer?: AbortSignal,
): Promise<T> {
  outer?.throwIfAborted();
  const deadline = new AbortController();
  const done = new AbortController();
  const { promise: early, resolve, reject } = Promise.withResolvers<T>();
  void clock
    .sleep(ms, done.signal)
    .then(() => {
      // The sleep also ends when the work is done. Aborting then would create an unused exception.
      if (done.signal.aborted) return;
      deadline.abort();
      resolve(late());
    })
    .catch(reject);
  // `AbortSignal.any` would do the same, and double the cost of this function.
  const abort = (): void => {
    reject(outer?.reason);
    deadline.abort(outer?.reason);
  };
  outer?.addEventListener("abort", abort);
  try {
    return await Promise.race([work(deadline.signal), early]);
  } finally {
    outer?.removeEventListener("abort", abort);
    // An abort without a reason creates an exception with a stack, which is expensive.
    done.abort("done");
  }
}

/**
 * Waits for `work`, but not after `signal` aborts. Returns whether it has ended.
 * Rejects if `work` rejects before that.
 */
export async function endsBefore(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const giveUp = (): void => resolve();
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp);
  try {
    const ended = work.then(() => {
      hasEnded = true;
    });
    await Promise.race([ended, late]);
    return hasEnded;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/**
 * A deadline that many tasks share, as a backstop for tasks that normally end by their own
 * deadline. Each task gets between `ms` and twice `ms` milliseconds. All tasks together use one
 * timer.
 */
export class SharedDeadline {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #outer: AbortSignal;
  readonly #over = new AbortController();
  /** The function that gives up each awaited task, and the round in which the task began. */
  readonly #waiting = new Map<() => void, number>();
  #round = 0;
  #isCounting = false;

  constructor(clock: Clock, ms: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#ms = ms;
    this.#outer = outer;
    outer.addEventListener("abort", this.end);
    if (outer.aborted) this.end();
  }

  /** Aborts when `outer` aborts and when `end` is called. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Returns the result of `work`, or undefined at the deadline or when `signal` aborts. `work` must
   * never reject. Work that continues afterwards is not awaited.
   */
  within<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const settle = (result?: T): void => {
        this.#waiting.delete(giveUp);
        resolve(result);
      };
      const giveUp = (): void => settle();
      this.#waiting.set(giveUp, this.#round);
      void work.then(settle);
      if (this.#over.signal.aborted) giveUp();
      else if (!this.#isCounting) void this.#count();
    });
  }

  /** Gives up every awaited task. */
  readonly end = (): void => {
    this.#outer.removeEventListener("abort", this.end);
    this.#over.abort("over");
    for (const giveUp of this.#waiting.keys()) giveUp();
  };

  async #count(): Promise<void> {
    this.#isCounting = true;
    while (this.#waiting.size > 0) {
      await this.#clock.sleep(this.#ms, this.#over.signal);
      this.#round++;
      for (const [giveUp, round] of this.#waiting) if (round < this.#round - 1) giveUp();
    }
    this.#isCounting = false;
  }
}
