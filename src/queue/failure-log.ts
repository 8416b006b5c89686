import { ProblemLimit } from "../kernel/index.ts";
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
 * Logs the failures of something that is repeated all the time, such as a search: the first at
 * once, then one line per minute with their number, and one line when it works again.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  readonly #limit: ProblemLimit;
  /** Whether a failure was logged since it last worked. */
  #isLogged = false;

  constructor(options: FailureLogOptions) {
    this.#options = options;
    this.#limit = new ProblemLimit(options.clock);
  }

  /** `more` are facts about this failure. */
  failed(err: unknown, more: object = {}): void {
    const { logger, facts, failed } = this.#options;
    const noted = this.#limit.note("", "");
    if (noted === undefined) return;
    this.#isLogged = true;
    logger.warn({ err, ...facts, ...more, failures: noted.count }, failed);
  }

  worked(): void {
    if (!this.#isLogged) return;
    this.#isLogged = false;
    const { logger, facts, again } = this.#options;
    logger.info({ ...facts }, again);
  }
}
