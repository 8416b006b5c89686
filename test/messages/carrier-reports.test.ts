/** How the engine stores what a carrier answers and reports. */
import { expect, it } from "vitest";
import {
  acceptedStatus,
  answerLost,
  carrierError,
  evidenceOf,
  givenUpColumns,
  isOptOut,
  notBeforeOf,
  provenColumns,
  withValidTime,
} from "../../src/messages/attempts/carrier-reports.ts";
import type { AttemptRow } from "../../src/messages/rows.ts";
import type { CarrierErrorCode } from "../../src/ports/carrier-errors.ts";

const now = 1_000_000;

const reason = (code: CarrierErrorCode, permanent: boolean) =>
  carrierError({ code, message: "No." }, permanent);

it("an acceptance proves the arrival only if the carrier sends no receipts", () => {
  const facts = { channels: ["sms"], modes: ["live"], canLookUp: true } as const;
  const factsByTransport = new Map([
    ["silent", { ...facts, receipts: "none" }],
    ["telling", { ...facts, receipts: "push" }],
  ]) as never;
  const statuses = ["silent", "telling", "removed"].map((transport) =>
    acceptedStatus(factsByTransport, { transport }),
  );
  expect(statuses).toEqual(["delivered", "sent", "sent"]);
});

it("an attempt whose carrier had the message is accepted, unless the carrier gave it up", () => {
  const sent = { status: "sent", at: now, error: null } as const;
  const undelivered = { status: "undelivered", at: now, error: reason("unknown", false) } as const;
  const outcomes = [sent, undelivered].map(
    (each) => provenColumns({ evidence: null }, each).outcome,
  );
  expect(outcomes).toEqual(["accepted", "undelivered"]);
});

it("a lost answer does not say that the message cannot be sent", () => {
  expect(answerLost).toEqual({
    code: "answer_lost",
    message: "The carrier's answer was lost; the message may have been sent.",
    permanent: false,
    stage: "carrier",
    provider_code: null,
  });
});

it("a refusal is an opt-out if it is final", () => {
  expect(isOptOut(reason("opted_out", true))).toBe(true);
  for (const other of [null, reason("opted_out", false), reason("filtered", true)]) {
    expect(isOptOut(other)).toBe(false);
  }
});

it("an attempt that was given up keeps its first error, and the refusal of the message", () => {
  const [lost, optOut] = [answerLost, reason("opted_out", true)];
  const [filtered, landline] = [reason("filtered", true), reason("landline", true)];
  const unavailable = reason("carrier_unavailable", false);
  const after = (
    outcome: AttemptRow["outcome"],
    [error, reported_error]: readonly (typeof lost | null)[],
    reported: typeof lost,
  ) => {
    const attempt = { outcome, error, reported_error } as AttemptRow;
    const columns = givenUpColumns(attempt, reported);
    return [columns.error, columns.reported_error];
  };
  expect(after("accepted", [null, null], filtered)).toEqual([filtered, filtered]);
  expect(after("ambiguous", [lost, null], unavailable)).toEqual([lost, unavailable]);
  expect(after("ambiguous", [lost, null], optOut)).toEqual([optOut, optOut]);
  // A fault of the carrier does not take back that it refused the message.
  expect(after("rejected", [filtered, null], unavailable)).toEqual([filtered, filtered]);
  expect(after("undelivered", [lost, filtered], unavailable)).toEqual([lost, filtered]);
  expect(after("undelivered", [lost, filtered], landline)).toEqual([lost, landline]);
  expect(after("undelivered", [lost, unavailable], filtered)).toEqual([lost, filtered]);
  const throttled = reason("throttled", false);
  expect(after("rejected", [throttled, null], unavailable)).toEqual([throttled, unavailable]);
});

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

it("a code that the engine does not know is shown as the carrier's", () => {
  const error = { code: "brand_new" as CarrierErrorCode, message: "New." };
  expect(carrierError(error, false)).toMatchObject({ code: "unknown", provider_code: "brand_new" });
  expect(carrierError({ ...error, provider_code: "7" }, false).provider_code).toBe("7");
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
    provider_code: null,
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
