import fc from "fast-check";
import { expect, it } from "vitest";
import { admitOneMore, withinWindow } from "../../src/kernel/index.ts";

it("no window has more than the maximum, and nothing waits longer than that needs", () => {
  const window = fc.constantFrom(10_000, 60_000);
  const max = fc.constantFrom(1, 2, 4, 20);
  fc.assert(
    fc.property(window, max, fc.array(fc.nat(), { maxLength: 60 }), (windowMs, max, drawn) => {
      const limit = { max, windowMs };
      // At an even rate, what happened exactly one window ago matters.
      const gaps = [0, 1, windowMs / max - 1, windowMs / max, windowMs / 2, windowMs - 1, windowMs];
      let now = Date.UTC(2026, 0, 1);
      let times: readonly number[] = [];
      const all: number[] = [];
      for (const each of drawn) {
        now += gaps[each % gaps.length] ?? 0;
        const recent = all.filter((at) => at > now - windowMs);
        const decision = admitOneMore(times, limit, now);
        expect(decision.admitted, "It is admitted exactly while the limit allows it.").toBe(
          recent.length < max,
        );
        if (decision.admitted) {
          all.push(now);
          ({ times } = decision);
          expect(times, "The times of the last window are kept.").toEqual([...recent, now]);
        } else {
          const { retryAfterMs } = decision;
          const isAdmitted = (ms: number) => admitOneMore(times, limit, now + ms).admitted;
          expect(isAdmitted(retryAfterMs), "It is admitted when it was told.").toBe(true);
          expect(isAdmitted(retryAfterMs - 1), "It was told to wait too long.").toBe(false);
        }
      }
    }),
  );
});

it("a time that a clock set back has left in the future does not count", () => {
  const [now, limit] = [Date.UTC(2026, 0, 1), { max: 1, windowMs: 60_000 }];
  expect(admitOneMore([now + 1], limit, now)).toEqual({ admitted: true, times: [now] });
  expect(admitOneMore([now], limit, now)).toEqual({ admitted: false, retryAfterMs: 60_000 });
});

it("the time at which the window begins, and times in the future, are outside of it", () => {
  const now = 1_000_000;
  expect(withinWindow([now - 100, now - 99, now, now + 1], 100, now)).toEqual([now - 99, now]);
});
