import type { BufferedTx } from "../transactions/buffered-tx.ts";

/**
 * Rejects a body that awaits anything but its transaction, because it would block all other
 * commands. When its reads have settled, a body makes its next read or ends before the event loop
 * continues. A body that has done neither awaits something else.
 */
export class BodyWatch {
  readonly #yieldToEventLoop: () => Promise<void>;
  /** The transactions of the bodies that run, and the function that rejects each body. */
  readonly #running = new Map<BufferedTx, (error: Error) => void>();
  #watching = false;

  constructor(yieldToEventLoop: () => Promise<void>) {
    this.#yieldToEventLoop = yieldToEventLoop;
  }

  /** Runs a body on its transaction. */
  run<T>(tx: BufferedTx, body: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#running.set(tx, reject);
      body().then(
        (value) => {
          this.#running.delete(tx);
          resolve(value);
        },
        (error: unknown) => {
          this.#running.delete(tx);
          reject(error);
        },
      );
      this.check();
    });
  }

  /** Call it when a read that a body waited for has settled. */
  check(): void {
    if (this.#watching) return;
    const watched: BufferedTx[] = [];
    for (const tx of this.#running.keys()) if (!tx.isWaiting) watched.push(tx);
    if (watched.length === 0) return;
    this.#watching = true;
    void this.#yieldToEventLoop().then(() => {
      this.#watching = false;
      for (const tx of watched) {
        const reject = this.#running.get(tx);
        if (tx.isWaiting || reject === undefined) continue;
        this.#running.delete(tx);
        reject(foreignAwait());
      }
      this.check();
    });
  }
}

function foreignAwait(): Error {
  return new TypeError(
    "A command awaited something other than its transaction, which blocks all other commands. " +
      "Do I/O before or after the command.",
  );
}
