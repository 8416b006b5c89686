import type { VirtualClock } from "../../../adapters/testing/index.ts";

/**
 * Returns a function that lets time pass on a clock, in milliseconds, without a return to the event
 * loop, as it passes while code runs.
 */
export function letWork(clock: VirtualClock): (ms: number) => void {
  const { monotonic } = clock;
  let worked = 0;
  Object.assign(clock, { monotonic: () => monotonic() + worked });
  return (ms) => {
    worked += ms;
    clock.step(ms);
  };
}
