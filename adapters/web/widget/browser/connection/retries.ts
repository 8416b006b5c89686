/** Repeats work that fails for a while: no connection, a restart of the server, a rate limit. */
import { Refused } from "./visitor-api.ts";

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** Work that took longer, such as a stream, had succeeded. After it, pauses are short again. */
const shortMs = 10_000;

/** Whether the same work may succeed later. */
export function mayRecover(error: unknown): boolean {
  return error instanceof Refused
    ? error.isTemporary || error.isOver
    : error instanceof TypeError || error instanceof DOMException;
}

export class Retries {
  readonly #wakes = new Set<() => void>();

  /** Ends all pauses. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /**
   * Repeats `work` with growing pauses, until it resolves with true or `signal` aborts. `onFailure`
   * gets the error, or undefined if `work` resolved with false. It returns whether to go on.
   */
  async repeat(
    work: () => Promise<boolean>,
    onFailure: (error: unknown) => boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    const isOver = (): boolean => signal?.aborted ?? false;
    for (let failures = 0; !isOver(); failures++) {
      const beganAt = performance.now();
      let error: unknown;
      try {
        if (await work()) return;
      } catch (caught) {
        error = caught;
      }
      if (isOver() || !onFailure(error)) return;
      if (performance.now() - beganAt > shortMs) failures = 0;
      const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** failures);
      const requested = error instanceof Refused ? (error.retryAfterMs ?? 0) : 0;
      // Browsers that were cut off together must not all come back in the same moment.
      await this.#pause(Math.max(delay, requested) * (1 + Math.random() / 2), signal);
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        this.#wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal?.addEventListener("abort", wake);
      this.#wakes.add(wake);
    });
  }
}
