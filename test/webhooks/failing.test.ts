import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shouldDisable, withFailure } from "../../src/webhooks/rules.ts";
import type { FailingStreak } from "../../src/webhooks/types.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 0, 1, 12);

/** Whether failures at these times disable the endpoint. */
function isDisabledAfter(times: readonly number[]): boolean {
  let streak: FailingStreak | null = null;
  for (const at of times) streak = withFailure(streak, at);
  return streak !== null && shouldDisable(streak, times.at(-1) ?? 0);
}

const every = (ms: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start + i * ms);

describe("a failing endpoint is disabled", () => {
  test.each<[string, number[], boolean]>([
    ["after five days of failure", every(12 * hourMs, 11), true],
    ["not before five days", [...every(12 * hourMs, 10), start + 5 * dayMs - 1], false],
    ["not for a thousand failures on four days", every(5 * 60_000, 1_000), false],
    ["not for nine attempts in a month", every(3 * dayMs, 9), false],
    ["not for ten attempts on two days", [...every(hourMs, 9), start + 20 * dayMs], false],
  ])("%s", (_, times, expected) => {
    expect(isDisabledAfter(times)).toBe(expected);
  });

  test("by the time, attempts and days of failure since its last success", () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 30 * hourMs }),
      succeeds: fc.nat(15).map((n) => n === 0),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let now = start;
        let streak: FailingStreak | null = null;
        let failures: number[] = [];
        for (const { after, succeeds } of steps) {
          now += after;
          failures = succeeds ? [] : [...failures, now];
          streak = succeeds ? null : withFailure(streak, now);
          const days = new Set(failures.map((at) => new Date(at).toISOString().slice(0, 10)));
          const expected =
            failures.length >= 10 && days.size >= 3 && now - (failures[0] ?? now) >= 5 * dayMs;
          expect(
            streak !== null && shouldDisable(streak, now),
            `It takes 10 failures on 3 days: these are ${failures.length} on ${days.size}.`,
          ).toBe(expected);
        }
      }),
    );
  });

  test("not earlier if the clock jumps back and forth", () => {
    const swinging = Array.from({ length: 100 }, (_, i) => start + (i % 2) * dayMs);
    let streak: FailingStreak | null = null;
    for (const at of swinging) streak = withFailure(streak, at);
    expect(streak).toMatchObject({ attempts: 100, days: 2 });
  });
});
