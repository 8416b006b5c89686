import { LogLimit } from "../kernel/index.ts";
import type { Clock, Logger } from "../ports/index.ts";

/** What is logged about a task. */
export interface FailureTexts {
  /** The message of a warning about failures. */
  readonly failureText: string;
  /** The message when it works again. */
  readonly recoveryText: string;
  /** Facts of each line. */
  readonly facts?: object;
}

interface FailureLogOptions extends FailureTexts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Logs the failures of a task that runs again and again, such as a search: at most one line a
 * minute, with the number of failures since the last line or success. The first success after such
 * a line is logged, too.
 */
export class FailureLog {
  readonly #options: FailureLogOptions;
  readonly #limit: LogLimit;
  /** Whether a failure was logged since the last success. */
  #isLogged = false;

  constructor(options: FailureLogOptions) {
    this.#options = options;
    this.#limit = new LogLimit(options.clock);
  }

  /** `more` are facts about this failure. */
  failed(err: unknown, more: object = {}): void {
    const { logger, facts, failureText } = this.#options;
    const noted = this.#limit.note();
    if (noted === undefined) return;
    this.#isLogged = true;
    logger.warn({ err, ...facts, ...more, failures: noted.count }, failureText);
  }

  worked(): void {
    this.#limit.reset();
    if (!this.#isLogged) return;
    this.#isLogged = false;
    const { logger, facts, recoveryText } = this.#options;
    logger.info({ ...facts }, recoveryText);
  }
}
