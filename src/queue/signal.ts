import type { Clock } from "../ports/index.ts";

/** Without a reason each abort makes an exception with a stack, which costs more than the waking. */
const woken = "woken";

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
    this.#waiting?.abort(woken);
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
