import { system } from "tidings/system";
import type { Clock } from "../../src/ports/clock.ts";

/** Maps the machine's monotonic clock to a time that runs at another rate. */
export interface Epoch {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** The monotonic clock's reading at that time, in milliseconds. */
  readonly since: number;
  readonly rate: number;
}

export function epoch(rate: number): Epoch {
  return { at: Date.now(), since: monotonic(), rate };
}

/**
 * A clock that runs `rate` times as fast as the machine's, so that a lease of a minute lapses
 * within seconds. All processes of a machine share one monotonic clock, so all that use the same
 * epoch read the same time. It goes on while a process is dead, never goes back, and ignores steps
 * of the wall clock.
 *
 * A fast clock also shortens the time after which a stalled call counts as over: a minute and a
 * half is a few seconds here. The carrier makes up for that: it never sends an attempt that it has
 * reported as not sent (`outside/carrier.ts`).
 */
export function fastClock({ at, since, rate }: Epoch): Clock {
  const { sleep } = system().clock;
  return {
    now: () => Math.floor(at + (monotonic() - since) * rate),
    sleep: (ms, signal, options) => sleep(ms / rate, signal, options),
    monotonic: () => (monotonic() - since) * rate,
  };
}

function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
