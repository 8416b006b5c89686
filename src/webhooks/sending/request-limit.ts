import type { WebhookRow } from "../rows.ts";

/**
 * Concurrent requests to one webhook: while it succeeds, while it fails, and when it is new, was
 * just enabled again or just got a new URL.
 */
const concurrency = { proven: 8, failing: 4, fresh: 1 } as const;

/**
 * How many requests to one webhook may be under way at once. The limit is lowered when the webhook
 * fails or starts anew. Each success after that raises it by one.
 */
export class RequestLimit {
  /** Infinity until the webhook is read. */
  #max = Infinity;
  /** The number of attempts that had begun when the limit was last lowered. */
  #begunBefore = 0;

  get max(): number {
    return this.#max;
  }

  /** Lowers the limit to that of the webhook's state. `begun` is the number of attempts so far. */
  lower(webhook: WebhookRow, begun: number): void {
    const max = maxFor(webhook);
    if (max >= this.#max) return;
    this.#max = max;
    this.#begunBefore = begun;
  }

  /**
   * Raises the limit after attempt number `attempt` has succeeded. An attempt that began before the
   * limit was lowered says nothing about the webhook's new state.
   */
  raise(attempt: number): void {
    if (attempt > this.#begunBefore) this.#max = Math.min(this.#max + 1, concurrency.proven);
  }
}

function maxFor({ proven, streak }: WebhookRow): number {
  if (proven) return concurrency.proven;
  return streak === null ? concurrency.fresh : concurrency.failing;
}
