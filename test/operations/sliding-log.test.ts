import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit, rateLimiter, slidingLog } from "../../src/operations/rate-limiter.ts";
import { runs } from "../support/runs.ts";

const window = 1_000;
/** Gaps between requests: bursts, trickles, the window's exact edge, pauses. */
const gap = fc.oneof(fc.constantFrom(0, 0, 1, 10, 999, 1_000, 1_001), fc.nat(300), fc.nat(5_000));
/** Gaps that fill a log after some of its entries have expired. */
const bursts = fc.oneof({ weight: 40, arbitrary: fc.constantFrom(0, 1, 5, 20) }, gap);
const gaps = fc.oneof(
  ...[gap, bursts].map((each) => fc.array(each, { minLength: 1, maxLength: 200, size: "max" })),
);
/** Small limits, and limits that a log grows to in several steps. */
const limits = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 21, max: 150 }));

const timesOf = (list: readonly number[]): number[] => {
  let time = 1_700_000_000_000;
  return list.map((each) => (time += each));
};

describe("the sliding log", () => {
  it("admits exactly what a full record of admissions would admit", () => {
    fc.assert(
      fc.property(limits, gaps, (limit, list) => {
        const log = slidingLog(window);
        const admitted: number[] = [];
        for (const now of timesOf(list)) {
          const before = admitted.filter((time) => time > now - window).length;
          const answer = admit(log, limit, now);
          expect(
            answer.admitted,
            `At a limit of ${limit}, a request after ${before} in the window is admitted if there is room.`,
          ).toBe(before < limit);
          if (answer.admitted) admitted.push(now);
          expect(
            answer.remaining,
            `At a limit of ${limit}, the remainder is the limit less the admissions in the window.`,
          ).toBe(limit - admitted.filter((time) => time > now - window).length);
        }
      }),
    );
  });

  it("keeps every admission when its ring grows, wherever the oldest one is in it", () => {
    // Waves that partly overlap in one window: the ring wraps, grows, and then drops the oldest.
    const wave = fc.record({
      after: fc.constantFrom(300, 400, 600, 1_000),
      count: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 17, max: 60 }),
        fc.array(wave, { minLength: 3, maxLength: 8 }),
        (limit, waves) => {
          const log = slidingLog(window);
          let admitted: number[] = [];
          let now = 1_700_000_000_000;
          for (const { after, count } of waves) {
            now += after;
            admitted = admitted.filter((time) => time > now - window);
            const before = admitted.length;
            const expected = Math.min(count, limit - before);
            const answers = Array.from({ length: count }, () => admit(log, limit, now).admitted);
            const more = answers.filter(Boolean).length;
            if (more !== expected) {
              throw new Error(
                `A limit of ${limit} in ${window} ms admitted ${more} of ${count} requests ` +
                  `where ${before} others counted: ${before + more} in one window.`,
              );
            }
            admitted.push(...Array.from({ length: more }, () => now));
          }
        },
      ),
      { numRuns: runs(500, 100) },
    );
  });

  it("admits no more than the limit in any window, wherever it starts", () => {
    fc.assert(
      fc.property(
        limits,
        gaps,
        fc.array(fc.nat(60_000), { maxLength: 20 }),
        (limit, list, starts) => {
          const log = slidingLog(window);
          const times = timesOf(list);
          const admitted = times.filter((now) => admit(log, limit, now).admitted);
          for (const start of [...admitted, ...starts.map((each) => (times[0] ?? 0) + each)]) {
            expect(
              admitted.filter((time) => time >= start && time < start + window).length,
              `In no window are more than ${limit} requests admitted.`,
            ).toBeLessThanOrEqual(limit);
          }
        },
      ),
    );
  });

  it("admits 100 at once and the next when the first is a second old", () => {
    const log = slidingLog(window);
    const burst = Array.from({ length: 199 }, () => admit(log, 100, 5_000));
    expect(burst.filter((each) => each.admitted)).toHaveLength(100);
    expect(burst[198]).toEqual({
      admitted: false,
      limit: 100,
      remaining: 0,
      reset_ms: 1_000,
      retry_after_ms: 1_000,
    });
    expect(admit(log, 100, 5_999).admitted).toBe(false);
    expect(admit(log, 100, 6_000).admitted).toBe(true);
  });

  it("counts earlier admissions when the limit of a key changes", async () => {
    const requests = fc.array(
      fc.record({ after: gap, limit: fc.constantFrom(1, 2, 3, 5, 20, 100) }),
      { minLength: 1, maxLength: 150, size: "max" },
    );
    await fc.assert(
      fc.asyncProperty(requests, async (list) => {
        let time = 0;
        const clock = { now: () => time, monotonic: () => time, sleep: () => Promise.resolve() };
        const limiter = rateLimiter(clock, {});
        const admitted: number[] = [];
        const countAt = (now: number): number =>
          admitted.filter((at) => at > now - window && at <= now).length;
        for (const { after, limit } of list) {
          time += after;
          const before = countAt(time);
          const answer = await limiter.admit("key", limit);
          expect(
            answer.admitted,
            `A request is admitted if there is room: ${before} of ${limit} were before it.`,
          ).toBe(before < limit);
          if (answer.admitted) admitted.push(time);
          expect(answer.limit, "The answer names the limit of the request.").toBe(limit);
          expect(
            answer.remaining,
            "The answer names how many more requests there is room for.",
          ).toBe(Math.max(0, limit - countAt(time)));
          const { retry_after_ms: wait, reset_ms } = answer;
          expect(countAt(time + reset_ms), "all expire by the reset").toBe(0);
          expect(
            countAt(time + reset_ms - 1),
            "The reset is not later than the last request expires.",
          ).toBeGreaterThan(0);
          expect(countAt(time + wait), "the wait is long enough").toBeLessThan(limit);
          if (wait > 0) {
            expect(
              countAt(time + wait - 1),
              `The wait of ${wait} ms is not longer than necessary.`,
            ).toBeGreaterThanOrEqual(limit);
          }
        }
      }),
      { numRuns: runs(100, 25) },
    );
  });

  it("uses memory for admitted requests, not for its limit", () => {
    const log = slidingLog(window);
    for (let now = 0; now < 10_000; now += 20) admit(log, 100_000, now);
    expect(log.times.byteLength).toBeLessThan(1_000);
    for (let n = 0; n < 150_000; n++) admit(log, 100_000, 20_000);
    expect(log.count).toBe(100_000);
    expect(log.times).toHaveLength(100_000);
  });

  it("returns the exact wait in milliseconds", () => {
    fc.assert(
      fc.property(limits, gaps, (limit, list) => {
        const log = slidingLog(window);
        for (const now of timesOf(list)) {
          const { admitted, remaining, retry_after_ms, reset_ms } = admit(log, limit, now);
          expect(reset_ms, "All is free no earlier than one request is.").toBeGreaterThanOrEqual(
            retry_after_ms,
          );
          expect(
            retry_after_ms === 0,
            `A wait of 0 ms means room, and only then: ${remaining} of ${limit} remain.`,
          ).toBe(remaining > 0);
          if (admitted) continue;
          expect(retry_after_ms, "A request that was refused has to wait.").toBeGreaterThan(0);
          expect(
            admit(structuredClone(log), limit, now + retry_after_ms - 1).admitted,
            `A request 1 ms before the announced ${retry_after_ms} ms is refused.`,
          ).toBe(false);
          expect(
            admit(structuredClone(log), limit, now + retry_after_ms).admitted,
            `A request after the announced ${retry_after_ms} ms is admitted.`,
          ).toBe(true);
          expect(
            admit(structuredClone(log), limit, now + reset_ms).remaining,
            `After ${reset_ms} ms, the announced reset, the window is empty.`,
          ).toBe(limit - 1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("of one process is exact to fractions of a millisecond, whatever happens to the wall clock", async () => {
    const steps = fc.array(
      fc.record({
        pass: fc.double({ min: 0, max: 400, noNaN: true }),
        step: fc.constantFrom(0, 0, 0, 1, -500, 500, 3_600_000),
      }),
      { minLength: 1, maxLength: 100, size: "max" },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), steps, async (limit, list) => {
        let time = 0;
        let wall = 1_700_000_000_000;
        const limiter = rateLimiter(
          { now: () => Math.floor(wall), monotonic: () => time, sleep: () => Promise.resolve() },
          {},
        );
        const admitted: number[] = [];
        for (const { pass, step } of list) {
          time += pass;
          wall += pass - step;
          const before = admitted.filter((at) => at > time - window).length;
          const answer = await limiter.admit("key", limit);
          expect(
            answer.admitted,
            `At a limit of ${limit}, a request after ${before} in the window is admitted if there is room.`,
          ).toBe(before < limit);
          if (answer.admitted) admitted.push(time);
          expect(answer.retry_after_ms, "No wait is longer than the window.").toBeLessThanOrEqual(
            window,
          );
        }
      }),
    );
  });
});
