import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HttpOutcome } from "../../src/ports/http-client.ts";
import {
  delays,
  isGone,
  isSuccess,
  maxAttemptMs,
  maxAttempts,
  maxJitter,
  nextRetry,
  pauseMsOf,
  type PastAttempt,
} from "../../src/webhooks/sending/schedule.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const start = Date.UTC(2026, 0, 1);

const answered = (status: number, retryAfter?: string): HttpOutcome => ({
  outcome: "answered",
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  body: new Uint8Array(),
  truncated: false,
  address: "192.0.2.1",
});
const timedOut: HttpOutcome = {
  outcome: "failed",
  code: "response_timeout",
  message: "",
  sent: true,
  address: null,
  partial: null,
};

const failure: fc.Arbitrary<HttpOutcome> = fc.oneof(
  fc.constant(timedOut),
  fc.constantFrom(101, 199, 301, 307, 400, 404, 500, 503, 999).map((status) => answered(status)),
  fc
    .tuple(fc.constantFrom(302, 429, 500, 503), fc.nat(2 * 86_400))
    .map(([status, s]) => answered(status, String(s))),
  fc
    .constantFrom("-5", "1.5", "99999999999", "Sun, 06 Nov 1994 08:49:37 GMT", "soon")
    .map((text) => answered(503, text)),
);
const jitter = fc.double({ min: 0, max: 1, noNaN: true });
/** An attempt: its duration, the delay of the dispatcher, its outcome and jitter. */
const attempt = fc.record({
  duration: fc.integer({ min: 0, max: maxAttemptMs }),
  late: fc.integer({ min: 0, max: 2 * minuteMs }),
  outcome: failure,
  jitter,
});
const attempts = fc.array(attempt, { minLength: maxAttempts, maxLength: maxAttempts });

interface Made {
  readonly started: number;
  readonly ended: number;
}

/** A delivery whose attempts all fail. `away` is a further delay before each attempt. */
function deliver(
  all: readonly { duration: number; late: number; outcome: HttpOutcome; jitter: number }[],
  away: readonly number[] = [],
): Made[] {
  const history: PastAttempt[] = [];
  const made: Made[] = [];
  let due = start;
  let waited_ms = 0;
  // More than the maximum, to prove that it ends by itself.
  for (const [i, { duration, late, outcome, jitter: drawn }] of [...all, ...all].entries()) {
    const started = due + late + (away[i] ?? 0);
    const ended = started + duration;
    made.push({ started, ended });
    history.push({ waited_ms, duration_ms: duration });
    const next = nextRetry(history, outcome, ended, drawn);
    if (next === undefined) break;
    expect(
      next.next_attempt_at,
      "The next attempt comes as long after the last one as the wait says.",
    ).toBe(ended + next.wait_ms);
    due = next.next_attempt_at;
    waited_ms = next.wait_ms;
  }
  return made;
}

describe("the schedule", () => {
  test("is at once, then after 1 minute, 10 minutes, 2 hours and 16 hours", () => {
    const made = deliver(
      Array.from({ length: 5 }, () => ({ duration: 500, late: 0, outcome: timedOut, jitter: 0 })),
    );
    const gaps = made.slice(1).map(({ started }, i) => started - (made[i]?.ended ?? 0));
    expect(gaps).toEqual([minuteMs, 10 * minuteMs, 2 * hourMs, 16 * hourMs]);
  });

  test("has five attempts for all failures, none early, all started within 24 hours of the first", () => {
    fc.assert(
      fc.property(attempts, (all) => {
        const made = deliver(all);
        expect(made, `There are exactly ${maxAttempts} attempts.`).toHaveLength(maxAttempts);
        for (const [i, delay] of delays.entries()) {
          expect(
            (made[i + 1]?.started ?? 0) - (made[i]?.ended ?? 0),
            `Attempt ${i + 2} comes at least its delay after the end of the one before.`,
          ).toBeGreaterThanOrEqual(delay);
        }
        expect(
          (made.at(-1)?.started ?? 0) - start,
          "All attempts begin within a day of the first.",
        ).toBeLessThanOrEqual(dayMs);
      }),
      { numRuns: 1_000 },
    );
  });

  test("does not count times without sending: they end no delivery and shorten no wait", () => {
    const away = fc.array(fc.integer({ min: 0, max: 30 * dayMs }), { minLength: 5, maxLength: 5 });
    const gapsOf = (made: readonly Made[]) =>
      made.slice(1).map(({ started }, i) => started - (made[i]?.ended ?? 0));
    fc.assert(
      fc.property(attempts, away, (all, absences) => {
        const gaps = gapsOf(deliver(all, absences)).map((gap, i) => gap - (absences[i + 1] ?? 0));
        expect(gaps).toEqual(gapsOf(deliver(all)));
      }),
    );
  });

  test("adds up to 8 % jitter to each delay, also close to the 24-hour limit", () => {
    fc.assert(
      fc.property(fc.array(jitter, { minLength: 5, maxLength: 5 }), (drawn) => {
        const made = deliver(
          drawn.map((each) => ({
            duration: maxAttemptMs,
            late: 0,
            outcome: timedOut,
            jitter: each,
          })),
        );
        for (const [i, delay] of delays.entries()) {
          const wait = (made[i + 1]?.started ?? 0) - (made[i]?.ended ?? 0);
          expect(wait, "Time-outs do not shorten a delay or its random extra.").toBe(
            Math.ceil(delay + delay * maxJitter * (drawn[i] ?? 0)),
          );
        }
      }),
    );
  });

  test("tolerates an attempt that took hours because its process slept", () => {
    const history = [{ waited_ms: 0, duration_ms: 30 * hourMs }];
    expect(nextRetry(history, answered(503, "3600"), start, 0)).toMatchObject({
      wait_ms: hourMs,
    });
    expect(nextRetry([{ waited_ms: 0, duration_ms: -hourMs }], timedOut, start, 0)).toMatchObject({
      wait_ms: minuteMs,
    });
  });

  test("keeps its delays for a delivery that is older than a day", () => {
    const history = [
      { waited_ms: 0, duration_ms: 0 },
      { waited_ms: 3 * dayMs, duration_ms: 0 },
    ];
    expect(nextRetry(history, answered(503, "3600"), start, 1)).toMatchObject({
      wait_ms: 10 * minuteMs,
    });
  });

  test("Retry-After lengthens a wait and never shortens it", () => {
    fc.assert(
      fc.property(
        attempts,
        fc.nat(2 * 86_400),
        jitter,
        fc.integer({ min: 1, max: 4 }),
        (all, seconds, drawn, made) => {
          const history = all.slice(0, made).map(({ duration }, i) => ({
            waited_ms: i === 0 ? 0 : (delays[i - 1] ?? 0),
            duration_ms: duration,
          }));
          const plain = nextRetry(history, answered(503), start, drawn);
          const asked = nextRetry(history, answered(503, String(seconds)), start, drawn);
          if (plain === undefined || asked === undefined) throw new Error("it ended early");
          expect(asked.wait_ms, "Retry-After never shortens a wait.").toBeGreaterThanOrEqual(
            plain.wait_ms,
          );
          // Every attempt has room for a Retry-After of at least five hours.
          expect(
            asked.wait_ms,
            "Each wait is at least as long as Retry-After says, up to five hours.",
          ).toBeGreaterThanOrEqual(Math.min(seconds * 1_000, 5 * hourMs));
        },
      ),
    );
  });

  test("ends with a 410 at any attempt", () => {
    for (let made = 1; made <= maxAttempts; made++) {
      const history = Array.from({ length: made }, () => ({
        waited_ms: minuteMs,
        duration_ms: 100,
      }));
      expect(nextRetry(history, answered(410), start, 0.5)).toBeUndefined();
    }
  });

  test.each([
    [199, false],
    [200, true],
    [204, true],
    [299, true],
    [300, false],
  ])("a complete response with the status %i is a success: %s", (status, expected) => {
    expect(isSuccess(answered(status))).toBe(expected);
  });

  test("an incomplete response is not a success, regardless of its status", () => {
    const partial = { status: 200, headers: {}, body: new Uint8Array(), truncated: false };
    const broken: HttpOutcome = { ...timedOut, code: "body_timeout", partial };
    expect(isSuccess(broken)).toBe(false);
    expect(isGone({ ...broken, partial: { ...partial, status: 410 } })).toBe(false);
    expect(isSuccess(answered(302))).toBe(false);
  });
});

describe("an endpoint is paused", () => {
  test.each([
    [answered(429, "30"), 30_000],
    [answered(503, "30"), 30_000],
    [answered(503, "86400"), hourMs],
    [answered(503), 0],
    [answered(503, "-1"), 0],
    [answered(500, "30"), 0],
    [answered(200, "30"), 0],
    [timedOut, 0],
  ])("for its Retry-After, up to an hour: %#", (outcome, expected) => {
    expect(pauseMsOf(outcome, start)).toBe(expected);
  });
});
