import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maxRetryAfterMs, retryAfterMs } from "../../src/webhooks/sending/schedule.ts";

/** The example of RFC 9110: Sun, 06 Nov 1994 08:49:37 GMT. */
const then = Date.UTC(1994, 10, 6, 8, 49, 37);

describe("Retry-After", () => {
  test.each([
    ["120", 120_000],
    ["0", 0],
    [" 5 ", 5_000],
    ["1.2", 2_000],
    ["0.001", 1_000],
    ["86401", 86_400_000],
    ["99999999999", maxRetryAfterMs],
    ["9".repeat(400), maxRetryAfterMs],
    ["-5", undefined],
    ["+5", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["5, 10", undefined],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
    ["2026-01-01", undefined],
    ["Sunny with clouds", undefined],
    ["from Sun, 06 Nov 1994 08:49:37 GMT", undefined],
  ])("%j asks for %j", (header, expected) => {
    expect(retryAfterMs(header, then)).toBe(expected);
  });

  test.each([
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ])("parses the date %s", (header) => {
    expect(retryAfterMs(header, then - 30_000)).toBe(30_000);
    expect(retryAfterMs(header, then + 30_000)).toBe(0);
    expect(retryAfterMs(header, then - 10 * maxRetryAfterMs)).toBe(maxRetryAfterMs);
  });

  test("reads a date without a zone as GMT in every local time zone", () => {
    const home = process.env["TZ"];
    process.env["TZ"] = "America/New_York";
    try {
      expect(retryAfterMs("Sun Nov  6 08:49:37 1994", then - 30_000)).toBe(30_000);
    } finally {
      if (home === undefined) delete process.env["TZ"];
      else process.env["TZ"] = home;
    }
  });

  test("is between zero and one day for every header", () => {
    const words = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 0, max: 4e12 }), (header, now) => {
        const asked = retryAfterMs(header, now) ?? 0;
        expect(asked, "No wait is negative.").toBeGreaterThanOrEqual(0);
        expect(asked, "No wait is longer than a day.").toBeLessThanOrEqual(maxRetryAfterMs);
      }),
    );
  });
});
