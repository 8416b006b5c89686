import type { Clock } from "../../ports/index.ts";

/**
 * The limits of one drain: the number of attempts, and the time in which attempts begin. After
 * either limit, the drain ends, so that others run. But as long as an attempt that began in time is
 * under way, more begin, up to the number: one slow response does not hold up the rest.
 */
const maxDrainAttempts = 10_000;
const beginMs = 10_000;

/** A request that has begun. */
interface DrainRequest {
  /** Its place among the requests of the drain, from 1. */
  readonly number: number;
  /** Call when the request has ended. */
  readonly end: () => void;
}

/** Counts the requests of a drain. All times are on the clock that never steps back. */
export class DrainRequests {
  readonly #clock: Clock;
  readonly #beginsUntil: number;
  #begun = 0;
  #underWay = 0;
  /** The requests under way that began in the drain's time. */
  #inTime = 0;
  /** Since when no response has arrived, while requests are under way. */
  #waitingSince = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beginsUntil = clock.monotonic() + beginMs;
  }

  /** How many have begun. */
  get begun(): number {
    return this.#begun;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** Whether the drain has reached one of its limits. */
  get hasReachedLimit(): boolean {
    return this.#begun >= maxDrainAttempts || (this.#isLate && this.#inTime === 0);
  }

  /** For how long no response has arrived, in milliseconds. 0 if no request is under way. */
  get waitedMs(): number {
    return this.#underWay === 0 ? 0 : this.#clock.monotonic() - this.#waitingSince;
  }

  /** Whether the time in which attempts begin is over. */
  get #isLate(): boolean {
    return this.#clock.monotonic() >= this.#beginsUntil;
  }

  begin(): DrainRequest {
    const number = ++this.#begun;
    const inTime = this.#isLate ? 0 : 1;
    if (this.#underWay === 0) this.#waitingSince = this.#clock.monotonic();
    this.#underWay++;
    this.#inTime += inTime;
    const end = (): void => {
      this.#waitingSince = this.#clock.monotonic();
      this.#underWay--;
      this.#inTime -= inTime;
    };
    return { number, end };
  }
}
