import { Temporal } from "@js-temporal/polyfill";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quietUntil } from "../../src/consents/quiet-hours.ts";
import { firstTimeZone } from "../../src/kernel/time.ts";
import { isLong } from "../support/runs.ts";

/** Zones with unusual transitions (odd hours, Ramadan), without any, and with odd offsets. */
const zones = [
  "UTC",
  "America/New_York",
  "America/St_Johns",
  "America/Havana",
  "America/Asuncion",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Antarctica/Troll",
  "Asia/Beirut",
  "Asia/Gaza",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Atlantic/Azores",
  "Australia/Lord_Howe",
  "Australia/Eucla",
  "Europe/Berlin",
  "Europe/Lisbon",
  "Pacific/Apia",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
];

const time = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;

const minute = 60_000;
const day = 86_400_000;

/** Quiet hours in wall-clock time. */
function isQuiet(at: number, zone: string, { from, to }: { from: string; to: string }): boolean {
  const clock = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainTime();
  const [begin, end] = [Temporal.PlainTime.from(from), Temporal.PlainTime.from(to)];
  const after = Temporal.PlainTime.compare(clock, begin) >= 0;
  const before = Temporal.PlainTime.compare(clock, end) < 0;
  const order = Temporal.PlainTime.compare(begin, end);
  return order === 0 ? false : order < 0 ? after && before : after || before;
}

/** The transitions of a zone in some years. */
function changes(zone: string): number[] {
  const found: number[] = [];
  let at = Temporal.Instant.from("2019-01-01T00:00Z").toZonedDateTimeISO(zone);
  for (;;) {
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.year > 2030) return found;
    found.push(next.epochMilliseconds);
    at = next;
  }
}

const changesOf = new Map(zones.map((zone) => [zone, changes(zone)]));

const zone = fc.constantFrom(...zones);
const hours = fc
  .tuple(fc.nat(1_439), fc.nat(1_439))
  .map(([from, to]) => ({ from: time(from), to: time(to) }));

/** Any moment, often close to a transition. */
const moment = zone.chain((name) => {
  const known = changesOf.get(name) ?? [];
  const any = fc.integer({ min: Date.parse("2019-01-01"), max: Date.parse("2030-12-31") });
  if (known.length === 0) return any.map((at) => ({ name, at }));
  const near = fc
    .tuple(fc.constantFrom(...known), fc.integer({ min: -day, max: day }))
    .map(([at, off]) => at + off);
  return fc.oneof({ weight: 4, arbitrary: near }, any).map((at) => ({ name, at }));
});

describe("quiet hours", () => {
  it("end at the first moment whose wall clock is outside them, in all zones and at all transitions", () => {
    fc.assert(
      fc.property(moment, hours, ({ name, at }, window) => {
        const until = quietUntil(at, name, window);
        expect(until === null, "Quiet hours have an end exactly if they are on.").toBe(
          !isQuiet(at, name, window),
        );
        if (until === null) return;
        expect(until, "Quiet hours end later.").toBeGreaterThan(at);
        expect(isQuiet(until, name, window), "At the end of quiet hours it is not quiet.").toBe(
          false,
        );
        expect(
          isQuiet(until - 1, name, window),
          "Just before the end of quiet hours it is quiet.",
        ).toBe(true);
        expect(
          quietUntil(until - 1, name, window),
          "Quiet hours have the same end at each of their moments.",
        ).toBe(until);
        const between = Array.from(
          { length: Math.ceil((until - at) / (7 * minute)) },
          (_, i) => at + i * 7 * minute,
        );
        expect(between.filter((each) => !isQuiet(each, name, window))).toEqual([]);
      }),
      { numRuns: isLong ? 1_000 : 40 },
    );
  });

  it("begin in the millisecond of their start", () => {
    const night = { from: "21:00", to: "08:00" };
    const start = Date.parse("2026-03-01T20:00Z");
    expect(quietUntil(start - 1, "Europe/Berlin", night)).toBe(null);
    expect(quietUntil(start, "Europe/Berlin", night)).toBe(Date.parse("2026-03-02T07:00Z"));
  });

  it("are empty if start and end are equal", () => {
    fc.assert(
      fc.property(moment, fc.nat(1_439).map(time), ({ name, at }, same) => {
        expect(
          quietUntil(at, name, { from: same, to: same }),
          "Hours that end when they begin are never quiet.",
        ).toBeNull();
      }),
    );
  });

  it.each([
    [
      "before the clock is set forward over their end",
      "2026-03-29T00:30:00Z",
      "01:00",
      "02:30",
      "2026-03-29T01:00:00Z",
    ],
    [
      "through the night in which the clock is set forward",
      "2026-03-28T22:00:00Z",
      "21:00",
      "08:00",
      "2026-03-29T06:00:00Z",
    ],
    [
      "through the night in which it is set back",
      "2026-10-24T22:00:00Z",
      "21:00",
      "08:00",
      "2026-10-25T07:00:00Z",
    ],
    [
      "at the first of two times that the clock shows their end",
      "2026-10-24T23:00:00Z",
      "22:00",
      "02:30",
      "2026-10-25T00:30:00Z",
    ],
    [
      "and at the second, for who comes in between",
      "2026-10-25T01:10:00Z",
      "22:00",
      "02:30",
      "2026-10-25T01:30:00Z",
    ],
  ])("end in Berlin %s", (_, now, from, to, until) => {
    expect(quietUntil(Date.parse(now), "Europe/Berlin", { from, to })).toBe(Date.parse(until));
  });

  it("end to the second in zones with local mean time", () => {
    const [now, until] = ["1880-06-01T12:00:00Z", "1880-06-01T12:56:02Z"].map(Date.parse);
    expect(quietUntil(now ?? 0, "America/New_York", { from: "07:00", to: "08:00" })).toBe(until);
  });

  it("use the first known time zone", () => {
    expect(firstTimeZone("Mars/Olympus", null, "Asia/Kathmandu", "UTC")).toBe("Asia/Kathmandu");
    expect(firstTimeZone(undefined, "Asia/Kathmandu")).toBe("Asia/Kathmandu");
    // A contact can have such a zone from an earlier version.
    expect(firstTimeZone("PST", "Asia/Kathmandu")).toBe("Asia/Kathmandu");
    expect(firstTimeZone("", undefined, null)).toBe("UTC");
  });
});
