/** How the engine stores what a carrier answers and reports. */
import { expect, it } from "vitest";
import {
  carrierError,
  evidenceOf,
  notBeforeOf,
  withValidTime,
} from "../../src/messages/attempts/carrier-reports.ts";

const now = 1_000_000;

it("a carrier's error is shown without what no database stores, and cut if it is long", () => {
  const page = { code: "filtered", message: `\ud800\0${"x".repeat(5_000)}` } as const;
  expect(carrierError({ ...page, provider_code: "9".repeat(300) }, true)).toEqual({
    code: "filtered",
    message: `\ufffd${"x".repeat(997)}…`,
    permanent: true,
    stage: "carrier",
    provider_code: `${"9".repeat(199)}…`,
  });
});

it("a carrier may ask for a pause of any length, and a pause that is none is ignored", () => {
  expect(notBeforeOf(7_000, now)).toBe(now + 7_000);
  expect(notBeforeOf(0, now)).toBe(now);
  expect(notBeforeOf(0.1, now)).toBe(now + 1);
  for (const none of [undefined, null, -5, Number.NaN, Infinity, -Infinity]) {
    expect(notBeforeOf(none, now)).toBeNull();
  }
});

it("a receipt without a reason names none, and one with a reason says whether it is final", () => {
  expect(evidenceOf({ status: "delivered", at: 1 })).toEqual({
    status: "delivered",
    at: 1,
    error: null,
  });
  expect(evidenceOf({ status: "undelivered", at: 1 }).error).toMatchObject({
    code: "unknown",
    message: "The carrier gave no reason.",
    permanent: false,
    stage: "carrier",
  });
  expect(
    evidenceOf({ status: "undelivered", at: 1, error: { code: "landline", message: "" } }).error,
  ).toMatchObject({ code: "landline", permanent: true });
  expect(
    evidenceOf({ status: "undelivered", at: 1, error: { code: "unreachable", message: "" } }).error,
  ).toMatchObject({ stage: "handset" });
});

it("a receipt's time is kept if a date can represent it, in whole milliseconds", () => {
  const end = Date.parse("9999-12-31T23:59:59.999Z");
  const times = [0, 1.4, end, -1, end + 1, Number.NaN, Infinity].map(
    (at) => withValidTime({ status: "sent", at }, now).at,
  );
  expect(times).toEqual([0, 1, end, now, now, now, now]);
});
