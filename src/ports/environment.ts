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
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The source of ids, secrets and jitter. A seeded source makes a run reproducible. */
export interface Random {
  /** Returns `count` bytes. In production they must be cryptographically secure. */
  bytes(count: number): Uint8Array;
}

/**
 * A logger with the interface of pino: facts first, then a message. The facts never contain
 * secrets, message bodies or phone numbers.
 */
export interface Logger {
  /** Logs details for debugging. */
  debug(facts: object, message: string): void;
  /** Logs normal operation. */
  info(facts: object, message: string): void;
  /** Logs a problem that the engine can handle itself. */
  warn(facts: object, message: string): void;
  /** Logs a problem that a person should look at. The error is in `facts`. */
  error(facts: object, message: string): void;
}

/** Logs nothing. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
