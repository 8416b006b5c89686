import { randomFillSync } from "node:crypto";
import { refuseArguments } from "../../src/kernel/index.ts";
import type { Clock, Random, SleepOptions } from "../../src/ports/index.ts";

/** The clock and the randomness of the machine, as engine options. */
export interface System {
  /** The wall clock and real timers. A step of the wall clock does not change a running timer. */
  readonly clock: Clock;
  /** Bytes from the system's cryptographic random number generator. */
  readonly random: Random;
}

/**
 * The machine's clock and randomness. The engine uses them by default. Tests give it `simulated()`
 * of `tidings/testing` instead.
 *
 * A sleeping clock keeps the process alive, except with `ref: false`. A started engine therefore
 * does too, until it stops.
 */
export function system(): System;
export function system(...given: readonly unknown[]): System {
  refuseArguments("system", given);
  const clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep };
  return { clock, random: systemRandom() };
}

/** Node keeps a timer's delay in 31 bits and fires a longer one at once. */
const maxTimerMs = 2 ** 31 - 1;

function sleep(ms: number, signal?: AbortSignal, { ref = true }: SleepOptions = {}): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const wait = (remaining: number): void => {
      const delay = Math.min(remaining, maxTimerMs);
      timer = setTimeout(() => (remaining > delay ? wait(remaining - delay) : done()), delay);
      if (!ref) timer.unref();
    };
    if (signal?.aborted) return done();
    signal?.addEventListener("abort", done);
    wait(ms);
  });
}

const poolBytes = 4_096;

/** Longer draws, such as those for secrets, come straight from the system. */
const maxPooledBytes = 16;

/**
 * Serves small draws from a pool: an id takes 16 draws of two bytes, and each call of the system's
 * generator takes about a microsecond. Drawn bytes are copied out and wiped from the pool, so no
 * two draws share memory.
 */
function systemRandom(): Random {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  return {
    bytes(count) {
      if (count > maxPooledBytes) return randomFillSync(new Uint8Array(count));
      if (used + count > poolBytes) {
        randomFillSync(pool);
        used = 0;
      }
      const drawn = pool.slice(used, used + count);
      pool.fill(0, used, used + count);
      used += count;
      return drawn;
    },
  };
}
