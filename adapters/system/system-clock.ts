import type { Clock } from "../../src/ports/clock.ts";

/** A timer beyond this fires at once (Node keeps its delay in 31 bits), so a longer sleep is made of several. */
const longestTimerMs = 2 ** 31 - 1;

/** The wall clock, and timers that a step of the wall clock does not touch. */
export function systemClock(): Clock {
  return { now: () => Date.now(), sleep };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const wait = (remaining: number): void => {
      const stretch = Math.min(remaining, longestTimerMs);
      timer = setTimeout(() => (remaining > stretch ? wait(remaining - stretch) : done()), stretch);
    };
    if (signal?.aborted) return done();
    signal?.addEventListener("abort", done);
    wait(ms);
  });
}
