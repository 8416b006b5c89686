import { Temporal } from "temporal-polyfill";
import { boundedCache, getOrInsert } from "./cache.ts";

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

/** A time that was formatted. */
interface Formatted {
  readonly ms: number;
  readonly text: string;
}

// A new message shows two times: now, and when it expires. Both are mostly those of the message
// before. So the last two are kept.
let last: Formatted = { ms: Number.NaN, text: "" };
let secondLast = last;

/**
 * Formats milliseconds since the epoch as resources show them: ISO 8601 in UTC with milliseconds.
 */
export function iso(ms: number): string {
  if (ms === last.ms) return last.text;
  const found = ms === secondLast.ms ? secondLast : { ms, text: new Date(ms).toISOString() };
  secondLast = last;
  last = found;
  return found.text;
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** Returns the UTC day of a time, such as `2026-07-15`. */
export function utcDay(ms: number): string {
  return iso(ms).slice(0, 10);
}

/** Converts a time of a validated input to milliseconds since the epoch. */
export function millis(text: string): number {
  return Date.parse(text);
}

/** Asking the runtime takes about 50 microseconds. */
const knownTimeZones = boundedCache<string, boolean>(500);

/**
 * Whether the runtime knows an IANA time zone of this name. An offset such as `+01:00` is not a
 * name. Neither is an abbreviation such as PST, which `Intl` knows but `Temporal` refuses:
 * abbreviations are ambiguous, and `Intl` takes BST for the time of Dhaka.
 */
export function isTimeZone(name: string): boolean {
  return getOrInsert(knownTimeZones, name, () => isNameOfZone(name));
}

function isNameOfZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the first name that is a time zone, and `UTC` if none is. */
export function firstTimeZone(...names: readonly (string | null | undefined)[]): string {
  return names.find((name) => typeof name === "string" && isTimeZone(name)) ?? "UTC";
}
