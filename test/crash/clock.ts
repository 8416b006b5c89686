import { system } from "../../adapters/system/index.ts";
import type { Clock } from "../../src/ports/clock.ts";

/** Which reading of the machine's monotonic clock stands for which time, and how fast time runs from there. */
export interface Epoch {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  readonly rate: number;
}

export function epoch(rate: number): Epoch {
  return { at: Date.now(), since: monotonic(), rate };
}

/**
 * Time that runs `rate` times as fast as the machine's, so that the minute of a lease and the minute before a look-up pass in
 * seconds. The machine has one monotonic clock for all its processes: whoever is given the same epoch reads the same time, so it runs
 * on while a process is dead, never runs back over a restart, and a step of the wall clock is not seen.
 *
 * What it makes shorter is how long a process may stall before its call counts as over: a minute and a half of the engine's
 * is a few seconds here. The carrier keeps its word that it never sends what it said it has not (`carrier.ts`).
 */
export function fastClock({ at, since, rate }: Epoch): Clock {
  const { sleep } = system().clock;
  return {
    now: () => Math.floor(at + (monotonic() - since) * rate),
    sleep: (ms, signal) => sleep(ms / rate, signal),
  };
}

function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
