import { TidingsError } from "../kernel/index.ts";
import type { Write } from "../ports/index.ts";

/** The maximum number of commands that wait in one transaction. */
const maxWaiting = 1_000;

/** Runs the commands of one handle of the host application one after the other. */
export class HandleQueue {
  readonly onWrites: (writes: readonly Write[]) => void;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** `closed` rejects new commands. `over` also rejects waiting ones. */
  #state: "open" | "closed" | "over" = "open";

  /** `onWrites` is called with the writes of each command. */
  constructor(onWrites: (writes: readonly Write[]) => void = () => {}) {
    this.onWrites = onWrites;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= maxWaiting) {
      throw new TidingsError(
        "overloaded",
        "Too many commands are waiting in one transaction. Await each before you send more.",
      );
    }
    if (this.#state !== "open") throw over();
    this.#waiting++;
    const running = this.#last.then(() => {
      if (this.#state === "over") throw over();
      return work();
    });
    this.#last = running.catch(() => {});
    try {
      return await running;
    } finally {
      this.#waiting--;
    }
  }

  /** Rejects new commands. Waiting ones still run. */
  close(): void {
    if (this.#state === "open") this.#state = "closed";
  }

  /** Resolves when no command waits or runs. */
  async idle(): Promise<void> {
    while (this.#waiting > 0) await this.#last;
  }

  /** Rejects new and waiting commands, and resolves when the running one has ended. */
  async end(): Promise<void> {
    this.#state = "over";
    await this.idle();
  }
}

function over(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "tx: this transaction has ended. Use the handle before it commits.",
  );
}
