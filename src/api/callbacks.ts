import { TidingsError } from "../kernel/index.ts";
import type { Clock, Logger } from "../ports/index.ts";
import { Semaphore } from "../queue/index.ts";

/**
 * The maximum size of a callback's body in bytes. Carriers send a few kilobytes, and the body is
 * read before its signature is verified.
 */
export const maxCallbackBytes = 131_072;
/**
 * Concurrent callbacks. Others are refused at once: anyone can send callbacks, and carriers repeat
 * theirs.
 */
const maxAtOnce = 256;
const busyMs = 1_000;
/** The time between two log lines about one transport's callbacks, in milliseconds. */
const quietMs = 60_000;

function busy(): TidingsError {
  const message = "Too many callbacks run at once. Send this one again.";
  return new TidingsError("overloaded", message, { retryAfterMs: busyMs });
}

interface Refusals {
  count: number;
  readonly codes: Set<string>;
  loggedAt: number;
}

/**
 * Limits the cost of callbacks from any sender. Logs refused callbacks: the first at once, then one
 * summary per minute.
 */
export class Callbacks {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #places = new Semaphore(maxAtOnce, 0, busy);
  readonly #refusals = new Map<string, Refusals>();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Runs `take` for one callback. Errors of `take` are thrown too.
   * @throws TidingsError `overloaded` when too many callbacks run
   */
  async take<T>(transport: string, take: () => Promise<T>): Promise<T> {
    try {
      return await this.#places.run(take);
    } catch (error) {
      if (error instanceof TidingsError && error.code !== "not_found") {
        this.#note(transport, error.code);
      }
      throw error;
    }
  }

  #note(transport: string, code: string): void {
    const now = this.#clock.now();
    const refusals = this.#refusals.get(transport) ?? {
      count: 0,
      codes: new Set<string>(),
      loggedAt: -Infinity,
    };
    this.#refusals.set(transport, refusals);
    refusals.count += 1;
    refusals.codes.add(code);
    if (now - refusals.loggedAt < quietMs) return;
    const { count, codes } = refusals;
    this.#logger.warn({ transport, callbacks: count, codes: [...codes] }, "callbacks were refused");
    this.#refusals.set(transport, { count: 0, codes: new Set(), loggedAt: now });
  }
}
