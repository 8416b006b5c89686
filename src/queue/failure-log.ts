import { quietMs } from "../kernel/index.ts";
import type { Clock, Logger } from "../ports/index.ts";

interface FailureLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The message of a warning about failures. */
  readonly failed: string;
  /** The message when it works again. */
  readonly again: string;
  /** Facts of each line. */
  readonly facts?: object;
}

/**
 * Logs the failures of something that is repeated all the time, such as a search: one line, then
 * one per minute with the number of failures since, and one when it works again. A
 * failure within a minute of the last line about failures is not logged at once.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  /** The number of failures since the last line about them, or since it last worked. */
  #count = 0;
  #loggedAt = -Infinity;
  /** Whether a failure was logged since it last worked. */
  #isLogged = false;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** `more` are facts about this failure. */
  failed(err: unknown, more: object = {}): void {
    const { clock, logger, facts, failed } = this.#options;
    this.#count++;
    const now = clock.now();
    if (Math.abs(now - this.#loggedAt) < quietMs) return;
    logger.warn({ err, ...facts, ...more, failures: this.#count }, failed);
    this.#count = 0;
    this.#loggedAt = now;
    this.#isLogged = true;
  }

  worked(): void {
    this.#count = 0;
    if (!this.#isLogged) return;
    this.#isLogged = false;
    const { logger, facts, again } = this.#options;
    logger.info({ ...facts }, again);
  }
}
