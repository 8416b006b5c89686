import type { Clock } from "../../ports/index.ts";
import type { WebhookRow } from "../rows.ts";

/**
 * The limits of one drain: the number of attempts, and the time in which attempts begin. After
 * either limit, the drain ends, so that others run. But as long as an attempt that began in time is
 * under way, more begin, up to the number: one slow response does not hold up the rest.
 */
const maxDrainAttempts = 10_000;
const beginMs = 10_000;

/**
 * Concurrent requests to one webhook: while it succeeds, while it fails, and when it is new, was
 * just enabled again or just got a new URL.
 */
const concurrency = { proven: 8, failing: 4, fresh: 1 } as const;

/**
 * Counts the requests of a drain, and limits how many are under way at once. That limit is lowered
 * when the webhook fails or starts anew. Each success after that raises it by one. All times are on
 * the clock that never steps back.
 */
export class DrainRequests {
  readonly #clock: Clock;
  readonly #beginsUntil: number;
  #begun = 0;
  #underWay = 0;
  /** The requests under way that began in the drain's time. */
  #inTime = 0;
  /** Since when no response has arrived, while requests are under way. */
  #waitingSince = 0;
  /** How many may be under way. Infinity until the webhook is read. */
  #max = Infinity;
  /** The number of requests that had begun when this limit was last lowered. */
  #begunBefore = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beginsUntil = clock.monotonic() + beginMs;
  }

  get isAnyUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /** Whether another one may begin. False for good once the drain has reached its limits. */
  get mayBegin(): boolean {
    const isOver = this.#begun >= maxDrainAttempts || (this.#isLate && this.#inTime === 0);
    return !isOver && this.#underWay < this.#max;
  }

  /** For how long no response has arrived, in milliseconds. 0 if no request is under way. */
  get waitedMs(): number {
    return this.#underWay === 0 ? 0 : this.#clock.monotonic() - this.#waitingSince;
  }

  /** Whether the time in which attempts begin is over. */
  get #isLate(): boolean {
    return this.#clock.monotonic() >= this.#beginsUntil;
  }

  /** Lowers the limit of concurrent requests to that of the webhook's state. */
  lowerLimit(webhook: WebhookRow): void {
    const max = maxFor(webhook);
    if (max >= this.#max) return;
    this.#max = max;
    this.#begunBefore = this.#begun;
  }

  /** Begins a request. Returns a function to call when it has ended. */
  begin(): (succeeded: boolean) => void {
    const number = ++this.#begun;
    const inTime = this.#isLate ? 0 : 1;
    if (this.#underWay === 0) this.#waitingSince = this.#clock.monotonic();
    this.#underWay++;
    this.#inTime += inTime;
    return (succeeded) => {
      this.#waitingSince = this.#clock.monotonic();
      this.#underWay--;
      this.#inTime -= inTime;
      // One that began before the limit was lowered says nothing about the webhook's new state.
      if (succeeded && number > this.#begunBefore) {
        this.#max = Math.min(this.#max + 1, concurrency.proven);
      }
    };
  }
}

function maxFor({ proven, streak }: WebhookRow): number {
  if (proven) return concurrency.proven;
  return streak === null ? concurrency.fresh : concurrency.failing;
}
