import { expect, it } from "vitest";
import { isTimeZone } from "../../src/kernel/time.ts";

it("a time zone is an IANA name that the runtime knows", () => {
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    expect([zone, isTimeZone(zone)]).toEqual([zone, true]);
  }
  for (const zone of ["US/Pacific", "EST", "PST8PDT", "europe/berlin"]) {
    expect([zone, isTimeZone(zone)]).toEqual([zone, true]);
  }
  for (const none of ["", "+01:00", "Europe", "Mars/Olympus", "Europe/Berlin "]) {
    expect(isTimeZone(none)).toBe(false);
  }
  // No IANA names. The runtime knows them all the same: PST as Los Angeles, but BST as Dhaka.
  for (const none of ["PST", "CST", "BST", "IST", "JST", "pst"]) {
    expect([none, isTimeZone(none)]).toEqual([none, false]);
  }
});
