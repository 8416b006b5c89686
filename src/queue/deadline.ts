import type { Clock } from "../ports/clock.ts";

/**
 * What `work` answers, or `late()` when it has not by then. The signal that it gets aborts at the deadline, or with `outer`; work
 * that goes on all the same is not waited for: with `outer` this rejects.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
): Promise<T> {
  const deadline = new AbortController();
  const done = new AbortController();
  const over = clock.sleep(ms, done.signal).then(() => {
    // When the work is done this ends too: an abort that nobody waits for would cost an exception.
    if (!done.signal.aborted) deadline.abort();
    return late();
  });
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    if (outer.aborted) abort();
    else outer.addEventListener("abort", abort, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work(AbortSignal.any([deadline.signal, outer])), over, aborted]);
  } finally {
    // With a reason of its own an abort costs nothing; without one an exception is made, stack and all.
    done.abort("done");
  }
}

/**
 * A deadline that many works share, for those that keep one of their own: each has `ms` at least and twice that at most, and they cost one
 * timer together.
 */
export class SharedDeadline {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #outer: AbortSignal;
  readonly #over = new AbortController();
  /** How to give up those that are waited for, and in which round they began. */
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
   * What `work` answers, which never rejects; undefined at the deadline, or when `signal` aborts: what goes on all the same is not waited
   * for.
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

  /** No more is waited for. */
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
