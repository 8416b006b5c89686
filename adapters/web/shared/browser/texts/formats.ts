/** Dates, times, durations and numbers in the page's language. */
import { timeNow, timeZone } from "../clock.ts";
import { currentLocale } from "./define-texts.ts";
import { text } from "./shared-texts.ts";

const cache = new Map<string, Intl.DateTimeFormat>();

function dateFormat(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  // A format keeps the time zone in which it was made. This also reads the signal of the time zone,
  // so that a change redraws what shows a date.
  const key = `${currentLocale()} ${timeZone.value} ${name}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat(currentLocale(), options);
  cache.set(key, format);
  return format;
}

/** `14:05`. */
export const time = (at: string | number | Date): string =>
  dateFormat("time", { hour: "numeric", minute: "2-digit" }).format(new Date(at));

/** `14:05:09`, in every language. */
export const timeOfDay = (at: string | number | Date): string =>
  dateFormat("timeOfDay", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    // With `hour12: false`, the hour after midnight would be 24 in some languages.
    hourCycle: "h23",
  }).format(new Date(at));

/** `Mar 2, 2026`. */
export const date = (at: string | number | Date): string =>
  dateFormat("date", { dateStyle: "medium" }).format(new Date(at));

/** `Mar 2, 2026, 14:05:09`. */
export const dateTime = (at: string | number | Date): string =>
  dateFormat("dateTime", { dateStyle: "medium", timeStyle: "medium" }).format(new Date(at));

/** `Monday, March 2`, with the year unless it is this year, or `Today` or `Yesterday`. */
export function day(at: string | number | Date, now: number = timeNow()): string {
  const date = new Date(at);
  const days = daysBetween(date, new Date(now));
  if (days === 0) return text("today");
  if (days === 1) return text("yesterday");
  return date.getFullYear() === new Date(now).getFullYear()
    ? dateFormat("day", { weekday: "long", month: "long", day: "numeric" }).format(date)
    : dateFormat("dayOfYear", { dateStyle: "long" }).format(date);
}

/** The shortest useful time for a list: a time today, a weekday this week, a date before. */
export function shortTime(at: string | number | Date, now: number = timeNow()): string {
  const date = new Date(at);
  const days = daysBetween(date, new Date(now));
  if (days === 0) return time(date);
  if (days > 0 && days < 7) return dateFormat("weekday", { weekday: "short" }).format(date);
  return date.getFullYear() === new Date(now).getFullYear()
    ? dateFormat("shortDay", { month: "short", day: "numeric" }).format(date)
    : dateFormat("shortDate", { dateStyle: "short" }).format(date);
}

/** `Mon, Mar 2, 14:05`, for a time that people chose, such as a snooze. */
export const dayAndTime = (at: string | number | Date): string =>
  dateFormat("dayAndTime", {
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
  }).format(new Date(at));

/** `Mon 14:05`: the time in another time zone. Undefined if the browser does not know the zone. */
export function timeIn(timeZone: string, at: number): string | undefined {
  const options = { weekday: "short", hour: "numeric", minute: "2-digit", timeZone } as const;
  try {
    return dateFormat(`in ${timeZone}`, options).format(at);
  } catch {
    return undefined;
  }
}

const units = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
  { unit: "second", ms: 1000 },
] as const;

const inUnit = (value: number, unit: string, maximumFractionDigits = 0): string =>
  number(value, { style: "unit", unit, unitDisplay: "narrow", maximumFractionDigits });

/** A duration in its largest unit: `45s`, `12m`, `3h`, `2d`. */
export function duration(ms: number): string {
  const size = Math.max(0, Math.round(ms / 1000) * 1000);
  const largest = units.find((each) => size >= each.ms);
  return largest === undefined
    ? inUnit(0, "second")
    : inUnit(Math.floor(size / largest.ms), largest.unit);
}

/** A duration in its two largest units, rounded: `340ms`, `2.4s`, `3m 20s`. */
export function exactDuration(ms: number): string {
  const size = Math.max(0, Math.round(ms));
  if (size < 1000) return inUnit(size, "millisecond");
  const tenths = Math.round(size / 100);
  if (tenths < 600) return inUnit(tenths / 10, "second", 1);
  const [day, hour, minute, second] = units;
  // 59.99 minutes are an hour, so the size is rounded before its largest unit is chosen.
  if (rounded(size, second) < hour.ms) return inTwoUnits(rounded(size, second), minute, second);
  if (rounded(size, minute) < day.ms) return inTwoUnits(rounded(size, minute), hour, minute);
  return inTwoUnits(rounded(size, hour), day, hour);
}

type Unit = (typeof units)[number];

const rounded = (size: number, { ms }: Unit): number => Math.round(size / ms) * ms;

function inTwoUnits(size: number, large: Unit, small: Unit): string {
  const whole = inUnit(Math.floor(size / large.ms), large.unit);
  const rest = (size % large.ms) / small.ms;
  return rest === 0 ? whole : `${whole} ${inUnit(rest, small.unit)}`;
}

/** A number, such as `1,234.5`, or one with a unit. */
export const number = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(currentLocale(), options).format(value);

/**
 * An address as people read it: `+1 500 555 0001`, and `Visitor 7Q3F` for an anonymous visitor of a
 * website. Other texts stay.
 */
export const shownAddress = (address: string): string =>
  address
    .replace(/^\+1(\d{3})(\d{3})(\d{4})$/, "+1 $1 $2 $3")
    .replace(/^visitor:\w{22}(\w{4})$/, (_, code: string) => text("visitor", { code }));

const visible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has a character that people can see. Some names have none. */
export const isVisible = (given: string | null | undefined): given is string =>
  visible.test(given ?? "");

/** The phone number (E.164) that a person typed, with or without separators. */
export function numberTyped(typed: string): string | undefined {
  const number = typed.replaceAll(/[\s().-]/g, "");
  return isNumber(number) ? number : undefined;
}

/** Whether a text is a phone number (E.164). */
export const isNumber = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text);

/** A list of words: `a, b, and c`. */
export const list = (items: readonly string[]): string =>
  new Intl.ListFormat(currentLocale(), { type: "conjunction" }).format(items);

/** The calendar days from `before` to `after` in the browser's time zone. */
export function daysBetween(before: Date, after: Date): number {
  const start = Date.UTC(before.getFullYear(), before.getMonth(), before.getDate());
  const end = Date.UTC(after.getFullYear(), after.getMonth(), after.getDate());
  return Math.round((end - start) / 86_400_000);
}

/** The first `max` characters of a text. Unlike `slice`, this cuts no character in two. */
export const firstCharacters = (given: string, max: number): string =>
  given.length <= max
    ? given
    : // A character has one or two UTF-16 code units, so this part is long enough.
      Array.from(given.slice(0, 2 * max))
        .slice(0, max)
        .join("");
