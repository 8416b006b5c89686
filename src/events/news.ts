import { events } from "../domain/events/rows.ts";
import { keys } from "../domain/keys/rows.ts";
import type { News } from "../operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Write } from "../ports/storage.ts";
import { Signal } from "../signal.ts";

/** Wakes the streams that wait: for events, and to find that they are over. */
export class NewsDesk {
  readonly #clock: Clock;
  readonly #waiting = new Set<Signal>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Streams that were open end, and those that come end at once. */
  get closed(): boolean {
    return this.#closed;
  }

  open(over: AbortSignal): News {
    const signal = new Signal(this.#clock);
    const raise = (): void => signal.raise();
    this.#waiting.add(signal);
    if (over.aborted) raise();
    else over.addEventListener("abort", raise, { once: true });
    return {
      signal,
      leave: () => {
        this.#waiting.delete(signal);
        over.removeEventListener("abort", raise);
      },
    };
  }

  heed(writes: readonly Write[]): void {
    if (this.#waiting.size > 0 && writes.some(({ collection }) => collection === events || collection === keys))
      {this.raise();}
  }

  /** Another process may have committed events. */
  raise(): void {
    for (const signal of this.#waiting) signal.raise();
  }

  close(): void {
    this.#closed = true;
    this.raise();
  }
}
