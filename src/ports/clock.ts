/** Time, as the engine sees it. Nothing in the engine reads a wall clock or sets a timer but through this. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step back. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
