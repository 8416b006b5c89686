/** What deadlines need of a clock. */
interface Clock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * The result of `work`, or of `late` when the work takes longer than `ms` milliseconds. The signal that `work` gets aborts at
 * the deadline, or with `outer`. Work that goes on all the same is not awaited: with `outer` this rejects.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
  outer?: AbortSignal,
): Promise<T> {
  const deadline = new AbortController();
  const done = new AbortController();
  const over = clock.sleep(ms, done.signal).then(() => {
    // The sleep also ends when the work is done. An abort then would create an exception for nobody.
    if (done.signal.aborted) return new Promise<never>(() => {});
    deadline.abort();
    return late();
  });
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    if (outer?.aborted === true) abort();
    else outer?.addEventListener("abort", abort, { once: true, signal: done.signal });
  });
  const signal = outer === undefined ? deadline.signal : AbortSignal.any([deadline.signal, outer]);
  try {
    return await Promise.race([work(signal), over, aborted]);
  } finally {
    // An abort without a reason creates an exception with a stack, which costs more than the wake-up.
    done.abort("done");
  }
}

/**
 * A deadline that many tasks share, for tasks that normally keep a deadline of their own. Each gets `ms` milliseconds at least
 * and twice that at most. All of them together cost one timer.
 */
export class SharedDeadline {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #outer: AbortSignal;
  readonly #over = new AbortController();
  /** Gives each task up that is awaited, and the round in which it began. */
  readonly #waiting = new Map<() => void, number>();
  #round = 0;
  #isCounting = false;

  constructor(clock: Clock, ms: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#ms = ms;
    this.#outer = outer;
    outer.addEventListener("abort", this.#end);
    if (outer.aborted) this.#end();
  }

  /** Aborts with `outer`, and at the end. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * The result of `work`, which never rejects; undefined at the deadline, or when `signal` aborts. Work that goes on all the
   * same is not awaited.
   */
  within<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const settle = (answer?: T): void => {
        this.#waiting.delete(giveUp);
        resolve(answer);
      };
      const giveUp = (): void => settle();
      this.#waiting.set(giveUp, this.#round);
      void work.then(settle);
      if (this.#over.signal.aborted) giveUp();
      else if (!this.#isCounting) void this.#count();
    });
  }

  /** Gives up every task that is awaited. */
  end(): void {
    this.#outer.removeEventListener("abort", this.#end);
    this.#end();
  }

  async #count(): Promise<void> {
    this.#isCounting = true;
    while (this.#waiting.size > 0) {
      await this.#clock.sleep(this.#ms, this.#over.signal);
      this.#round++;
      for (const [giveUp, round] of this.#waiting) if (round < this.#round - 1) giveUp();
    }
    this.#isCounting = false;
  }

  readonly #end = (): void => {
    this.#over.abort("over");
    for (const giveUp of this.#waiting.keys()) giveUp();
  };
}
