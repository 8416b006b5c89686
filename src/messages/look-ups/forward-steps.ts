import type { Clock } from "../../ports/index.ts";

/**
 * Steps up to this are ignored, in milliseconds. They make a look-up early by no more than the
 * shortest delay before one.
 */
const toleratedMs = 5_000;

/**
 * Notices that the wall clock was set forward, or went on while the machine slept. A look-up can
 * then be due too early: a call that began before the step may still be running.
 */
export class ForwardSteps {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  /** How far the wall clock is ahead of the monotonic one, in milliseconds. */
  #lead: number;
  /** When the last step was noticed, by the monotonic clock. */
  #noticedAt = -Infinity;

  constructor(clock: Pick<Clock, "now" | "monotonic">) {
    this.#clock = clock;
    this.#lead = clock.now() - clock.monotonic();
  }

  /** Returns how long to wait until `ms` have passed since the last step was noticed. */
  waitMs(ms: number): number {
    const monotonic = this.#clock.monotonic();
    const lead = this.#clock.now() - monotonic;
    if (lead - this.#lead > toleratedMs) this.#noticedAt = monotonic;
    this.#lead = lead;
    return Math.max(0, Math.ceil(this.#noticedAt + ms - monotonic));
  }
}
