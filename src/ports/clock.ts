/** The engine's clock. The engine reads time and sets timers only through it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step back. */
  now(): number;
  /**
   * Milliseconds since an arbitrary start, with fractions. Never steps back, and ignores changes of
   * the wall clock. Rate limits count with it.
   */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or immediately when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal, options?: SleepOptions): Promise<void>;
}

/** Options of a clock's `sleep`. */
export interface SleepOptions {
  /**
   * Whether the timer keeps the process alive, as in `node:timers/promises`. A clock without real
   * timers ignores it.
   * @default true
   */
  readonly ref?: boolean | undefined;
}
