import { events } from "../domain/events/rows.ts";
import type { Clock } from "../ports/clock.ts";
import type { Write } from "../ports/storage.ts";
import { Signal } from "../signal.ts";

/** Wakes the streams that wait for events. */
export class News {
  readonly #clock: Clock;
  readonly #waiting = new Set<Signal>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A signal of one stream's own, let go of when `over` aborts. */
  open(over: AbortSignal): Signal {
    const signal = new Signal(this.#clock);
    this.#waiting.add(signal);
    const close = (): void => {
      this.#waiting.delete(signal);
      signal.raise();
    };
    if (over.aborted) close();
    else over.addEventListener("abort", close, { once: true });
    return signal;
  }

  heed(writes: readonly Write[]): void {
    if (this.#waiting.size > 0 && writes.some(({ collection }) => collection === events)) this.raise();
  }

  /** Another process may have committed events. */
  raise(): void {
    for (const signal of this.#waiting) signal.raise();
  }
}
