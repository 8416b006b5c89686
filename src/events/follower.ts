import type { Clock } from "../ports/index.ts";
import { Signal } from "../queue/index.ts";

export interface FollowerOptions {
  readonly clock: Clock;
  /** Lets the event loop do what else is pending. */
  readonly turn: () => Promise<void>;
  /** Looks at what is new, as much of it as is done in one go. */
  readonly step: () => Promise<Step>;
  /** Told of a step that failed; it is made again after a pause. */
  readonly failed: (error: unknown) => void;
}

/** Whether there may be more to look at now, or later, or never again. */
export type Step = "more" | "through" | "over";

/** The net under the wake-ups. */
const pollMs = 5_000;
/** After a failure. */
const pauseMs = 1_000;

/** Follows a log: makes its steps whenever something may have been committed, until it is stopped. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #fresh: Signal;
  #stopping = false;
  #loop: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#fresh = new Signal(options.clock);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Something may have been committed. */
  wake(): void {
    this.#fresh.raise();
  }

  /** Resolves when the step that is being made has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#fresh.raise();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { step, turn, failed } = this.#options;
    while (!this.#stopping) {
      // Lowered before the reads: what commits meanwhile raises it again.
      this.#fresh.lower();
      let wait = pollMs;
      try {
        const made = await step();
        if (made === "over") return;
        if (made === "more") {
          await turn();
          continue;
        }
      } catch (error) {
        failed(error);
        wait = pauseMs;
      }
      // Raised for good by who stops it.
      await this.#fresh.wait(wait);
    }
  }
}
