import { pause } from "./pause.ts";

/** The least time between the end of a run and the next one. */
const minIntervalMs = 20;

/** Does some work at once when it is requested, and then at most every 20 ms. */
export class Throttle {
  readonly #work: () => void | Promise<void>;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #isRequested = false;

  /** `work` must not reject. */
  constructor(work: () => void | Promise<void>) {
    this.#work = work;
  }

  /** Requests that come before the next run share it. */
  request(): void {
    this.#isRequested = true;
    this.#running ??= this.#run();
  }

  /** Does requested work first. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#work();
      await pause(minIntervalMs, this.#closing.signal);
    }
    // In the same step as the last look at `#isRequested`, so that no request is lost.
    this.#running = undefined;
  }
}
