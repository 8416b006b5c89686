import type { Clock, Logger } from "../ports/index.ts";
import { FailureLog, type FailureTexts } from "./failure-log.ts";
import { WakeFlag } from "./wake-flag.ts";

interface FollowerOptions extends FailureTexts {
  /** Lets the event loop run other work. */
  readonly store: { yieldToEventLoop(): Promise<void> };
  readonly clock: Clock;
  readonly logger: Logger;
  /** The time between two steps if no wake-up arrives, in milliseconds. 5 seconds by default. */
  readonly pollMs?: number;
  /** Processes one batch of new entries. A step that fails is retried after a pause. */
  readonly step: () => Promise<Step>;
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
  readonly #failures: FailureLog;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#flag = new WakeFlag(options.clock);
    this.#failures = new FailureLog(options);
  }

  /** Aborts when `stop` is called. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
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
    this.#stopping.abort();
    this.#flag.raise();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { store, step, pollMs = defaultPollMs } = this.#options;
    while (!this.stopping.aborted) {
      // Lowered before the reads, so that a commit during the reads raises it again.
      this.#flag.lower();
      let wait = pollMs;
      try {
        const result = await step();
        this.#failures.worked();
        if (result === "over") return;
        if (result === "more") {
          await store.yieldToEventLoop();
          continue;
        }
      } catch (error) {
        // When the engine stops, it may close the storage while this reads.
        if (this.stopping.aborted) return;
        this.#failures.failed(error);
        wait = pauseMs;
      }
      // `stop` raises the flag, so this wait ends.
      await this.#flag.wait(wait);
    }
  }
}
