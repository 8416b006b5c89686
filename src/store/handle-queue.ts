import { TidingsError } from "../kernel/index.ts";
import type { Write } from "../ports/index.ts";

/** The maximum number of commands that wait in one transaction. */
const maxWaiting = 1_000;

/** Runs the commands of one handle of the host application one after the other. */
export class HandleQueue {
  readonly onWrites: (writes: readonly Write[]) => void;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** The calls that were announced and have not ended. */
  readonly #announced = new Set<Promise<void>>();
  #isOver = false;

  /** `onWrites` is called with the writes of each command. */
  constructor(onWrites: (writes: readonly Write[]) => void = () => {}) {
    this.onWrites = onWrites;
  }

  /** Whether a call that was announced has not ended. */
  get hasAnnounced(): boolean {
    return this.#announced.size > 0;
  }

  /**
   * Called when the host application calls a command, long before it waits in this queue. Returns a
   * function to be called when the command has ended.
   */
  announce(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#announced.add(promise);
    return () => {
      this.#announced.delete(promise);
      resolve();
    };
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= maxWaiting) {
      throw new TidingsError(
        "overloaded",
        "Too many commands are waiting in one transaction. Await each before you send more.",
      );
    }
    if (this.#isOver) throw over();
    this.#waiting++;
    const running = this.#last.then(() => {
      if (this.#isOver) throw over();
      return work();
    });
    this.#last = running.catch(() => {});
    try {
      return await running;
    } finally {
      this.#waiting--;
    }
  }

  /** Rejects new and waiting commands, and resolves when all have ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    while (this.#waiting > 0) await this.#last;
    // A call that has not reached the queue yet may be at its policies, which use the handle.
    await Promise.all(this.#announced);
  }
}

function over(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "tx: this transaction has ended. Use the handle before it commits.",
  );
}
