import { ApiError } from "./problem.ts";

const firstPauseMs = 2000;
const maxPauseMs = 30_000;

/**
 * Repeats a read that the server cannot answer for now, after pauses that grow. What failed because
 * the server could not be reached is repeated once it can: see `onReconnect`.
 */
export class Repetition {
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Notes that a read failed. Calls `again` later if the server asks for that. */
  noteFailure(error: unknown, again: () => void): void {
    this.end();
    if (!isBusy(error)) return;
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.failures);
    this.failures += 1;
    // The pages of many people must not come back at the same time.
    const waitMs = Math.max(pauseMs * (0.75 + Math.random() / 2), error.retryAfterMs ?? 0);
    this.timer = setTimeout(again, waitMs);
  }

  /** Notes that a read succeeded. */
  noteSuccess(): void {
    this.end();
    this.failures = 0;
  }

  /** Gives up the repetition that is due. */
  end(): void {
    clearTimeout(this.timer);
  }
}

/** Whether the server cannot answer for now. */
export const isBusy = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.isTemporary && (error.status === 503 || error.status === 429);
