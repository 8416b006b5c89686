import type { Clock } from "../ports/index.ts";
import { WakeFlag, type FailureLog } from "../queue/index.ts";

interface FollowerOptions {
  readonly clock: Clock;
  /** The time between two steps if no wake-up arrives, in milliseconds. 5 seconds by default. */
  readonly pollMs?: number;
  /** Lets the event loop run other work. */
  readonly yieldToEventLoop: () => Promise<void>;
  /** Processes one batch of new entries. */
  readonly step: () => Promise<Step>;
  /** Is told of each step whether it failed. A step that failed is retried after a pause. */
  readonly failures: Pick<FailureLog, "failed" | "worked">;
}

/** `more`: call again now. `wait`: call again after a wake-up or a pause. `over`: never again. */
export type Step = "more" | "wait" | "over";

const defaultPollMs = 5_000;
/** The pause after a failure, in milliseconds. */
const pauseMs = 1_000;

/** Follows a log: runs a step whenever something may have been committed, until it is stopped. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #flag: WakeFlag;
  #stopping = false;
  #loop: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#flag = new WakeFlag(options.clock);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Runs the step again. Call this when something may have been committed. */
  wake(): void {
    this.#flag.raise();
  }

  /** Resolves when the current step has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#flag.raise();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { step, yieldToEventLoop, failures, pollMs = defaultPollMs } = this.#options;
    while (!this.#stopping) {
      // Lowered before the reads, so that a commit during the reads raises it again.
      this.#flag.lower();
      let wait = pollMs;
      try {
        const result = await step();
        failures.worked();
        if (result === "over") return;
        if (result === "more") {
          await yieldToEventLoop();
          continue;
        }
      } catch (error) {
        // When the engine stops, it may close the storage while this reads.
        if (this.#stopping) return;
        failures.failed(error);
        wait = pauseMs;
      }
      // `stop` raises the flag, so this wait ends.
      await this.#flag.wait(wait);
    }
  }
}
