import type { Clock } from "../ports/index.ts";

/** The reason of aborts. Without one, each abort creates an exception with a stack trace. */
const woken = "woken";

/** A flag that a loop can wait for. It stays raised until it is lowered. */
export class WakeFlag {
  readonly #clock: Clock;
  #raised = false;
  #waiting: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  raise(): void {
    this.#raised = true;
    this.#waiting?.abort(woken);
  }

  /** Lowers the flag. Returns whether it was raised. */
  lower(): boolean {
    const wasRaised = this.#raised;
    this.#raised = false;
    return wasRaised;
  }

  /** Resolves when the flag is raised or after `ms` milliseconds. Returns whether it was raised. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#raised) {
      this.#waiting = new AbortController();
      await this.#clock.sleep(ms, this.#waiting.signal);
      this.#waiting = undefined;
    }
    return this.#raised;
  }
}
