import { TidingsError } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

/** Of a callback's body. Carriers' are of a few kilobytes; nobody without their signature makes us read more. */
export const mostCallbackBytes = 131_072;
/** Callbacks that are verified and written down at a time. Carriers come again, and anybody can call. */
const mostUnderway = 256;
const busyMs = 1_000;
/** Between two lines of the log about one transport's callbacks. */
const quietMs = 60_000;

interface Refusals {
  count: number;
  readonly codes: Set<string>;
  toldAt: number;
}

/** Bounds what callbacks cost, whoever sends them, and tells of those that are refused: at once, and then once a minute. */
export class Callbacks {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #refusals = new Map<string, Refusals>();
  #underway = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** @throws TidingsError `overloaded` when too many are under way, and what `take` throws */
  async take<T>(transport: string, take: () => Promise<T>): Promise<T> {
    try {
      if (this.#underway >= mostUnderway) {
        const message = "Too many callbacks are under way. Send it again.";
        throw new TidingsError("overloaded", message, { retryAfterMs: busyMs });
      }
      this.#underway += 1;
      try {
        return await take();
      } finally {
        this.#underway -= 1;
      }
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
      toldAt: -Infinity,
    };
    this.#refusals.set(transport, refusals);
    refusals.count += 1;
    refusals.codes.add(code);
    if (now - refusals.toldAt < quietMs) return;
    const { count, codes } = refusals;
    this.#logger.warn({ transport, callbacks: count, codes: [...codes] }, "callbacks were refused");
    this.#refusals.set(transport, { count: 0, codes: new Set(), toldAt: now });
  }
}
