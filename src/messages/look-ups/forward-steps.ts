import type { Clock } from "../../ports/index.ts";

/** A smaller step costs a look-up no more than its shortest delay. */
const toleratedMs = 5_000;

/**
 * Notices that the wall clock was set forward, or went on while the machine slept. What is due by
 * the wall clock is then due too early: a call that began before may still be running.
 */
export class ForwardSteps {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** How far the wall clock is ahead of the monotonic one. */
  #lead: number;
  /** When the last step was noticed, by the monotonic clock. */
  #noticedAt = -Infinity;

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
    this.#lead = clock.now() - clock.monotonic();
  }

  /** Returns how long to wait until the last step was noticed `ms` milliseconds ago. */
  waitMs(ms: number): number {
    const monotonic = this.#clock.monotonic();
    const lead = this.#clock.now() - monotonic;
    if (lead - this.#lead > toleratedMs) this.#noticedAt = monotonic;
    this.#lead = lead;
    return Math.max(0, Math.ceil(this.#noticedAt + ms - monotonic));
  }
}
