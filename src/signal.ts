import type { Clock } from "./ports/clock.ts";

/** A flag that a loop can wait for. Raised while nobody waits, it is not forgotten. */
export class Signal {
  readonly #clock: Clock;
  #raised = false;
  #waiting: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  raise(): void {
    this.#raised = true;
    this.#waiting?.abort();
  }

  lower(): void {
    this.#raised = false;
  }

  /** Resolves when the flag is raised, at the latest after `ms` milliseconds. Answers whether it was. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#raised) {
      this.#waiting = new AbortController();
      await this.#clock.sleep(ms, this.#waiting.signal);
      this.#waiting = undefined;
    }
    return this.#raised;
  }
}
