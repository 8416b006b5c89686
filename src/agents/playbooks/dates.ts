/** Days as people write them, read from where and when they write. Days are numbers here: since 1970-01-01, in no time zone. */
import { isDenied, wordsOf } from "./words.ts";

/** Where a text was written. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** IANA name; one that is not known, and none, is UTC. */
  readonly time_zone: string | null;
  /** In 12/1 the month comes first. Where it is not said, what could be read in two ways is not read. */
  readonly monthFirst: boolean;
}

const dayMs = 86_400_000;

/**
 * The one day that a text names, as `2026-12-01`: so, as 1.12.2026, 12/1/2026, Dec 1, 1st of December, today, tomorrow, in three days, in
 * two weeks, Friday (the coming one, never today), next Friday (that of next week). Without a year it is the next such day. Undefined where
 * none is named, several are, or one is denied.
 */
export function readDate(text: string, moment: Moment): string | undefined {
  if (isDenied(text)) return undefined;
  const today = todayIn(moment);
  const exact = [...new Set(exactDays(text.toLowerCase(), today, moment.monthFirst))];
  const words = ` ${wordsOf(text)} `;
  const weekdays = [...words.matchAll(weekdayName)].map(([, which = "", name = ""]) => ({
    which,
    name,
  }));
  const loose = weekdays.map(({ which, name }) =>
    comingWeekday(weekdayOf(name), which === "next ", today),
  );
  const [day, ...others] =
    exact.length > 0 ? exact : [...new Set([...relativeDays(words, today), ...loose])];
  if (day === undefined || Number.isNaN(day) || others.length > 0) return undefined;
  // "Friday, December 5" that is a Saturday: nobody knows which was meant.
  const agrees =
    exact.length === 0 || weekdays.every(({ name }) => weekdayOf(name) === weekdayAt(day));
  return agrees ? written(day) : undefined;
}

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const month = String.raw`(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`;
const dayOfMonth = String.raw`(\d{1,2})(?:st|nd|rd|th)?\b`;
const year = String.raw`(?:,?\s+(\d{4})\b)?`;

const isoForm = /(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])/g;
const dotForm = /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})?(?!\d)/g;
const slashForm = /(?<![\d/])(\d{1,2})\/(\d{1,2})(?:\/(\d{4}|\d{2}))?(?![\d/])/g;
const monthForm = new RegExp(String.raw`\b${month}\s+(?:the\s+)?${dayOfMonth}${year}`, "g");
const dayForm = new RegExp(String.raw`\b${dayOfMonth}\s+(?:of\s+)?${month}${year}`, "g");

/** Days that are named by their month; NaN for one that there is not, or that could be two. */
function exactDays(text: string, today: number, monthFirst: boolean): number[] {
  const day = (year: string | undefined, month: number, date: string): number =>
    dayOf(year, month, Number(date), today);
  return [
    ...[...text.matchAll(isoForm)].map(([, year, month, date = ""]) =>
      day(year, Number(month), date),
    ),
    ...[...text.matchAll(dotForm)].map(([, date = "", month, year]) =>
      day(year, Number(month), date),
    ),
    ...[...text.matchAll(slashForm)].map(([, a = "", b = "", year]) => {
      if (Number(a) > 12) return day(year, Number(b), a);
      return monthFirst || Number(b) > 12 || a === b ? day(year, Number(a), b) : Number.NaN;
    }),
    ...[...text.matchAll(monthForm)].map(([, name = "", date = "", year]) =>
      day(year, monthOf(name), date),
    ),
    ...[...text.matchAll(dayForm)].map(([, date = "", name = "", year]) =>
      day(year, monthOf(name), date),
    ),
  ];
}

function monthOf(name: string): number {
  return months.indexOf(name.slice(0, 3)) + 1;
}

/** Without a year, the first from today on; a 29 February may be years away. */
function dayOf(year: string | undefined, month: number, date: number, today: number): number {
  if (year !== undefined) {
    return dayIn(Number(year) < 100 ? 2_000 + Number(year) : Number(year), month, date);
  }
  const thisYear = new Date(today * dayMs).getUTCFullYear();
  const days = Array.from({ length: 9 }, (_, years) => dayIn(thisYear + years, month, date));
  return days.find((day) => day >= today) ?? Number.NaN;
}

function dayIn(year: number, month: number, date: number): number {
  const day = Date.UTC(year, month - 1, date) / dayMs;
  const isThere = new Date(day * dayMs).getUTCMonth() === month - 1 && date > 0;
  return isThere && year >= 1900 && year < 2200 ? day : Number.NaN;
}

const counts = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
];
const distance = new RegExp(String.raw` in (a|\d{1,3}|${counts.join("|")}) (day|week)s? `, "g");

function relativeDays(words: string, today: number): number[] {
  const days = [...words.matchAll(distance)].map(([, count = "", unit]) => {
    const named = counts.indexOf(count);
    return (
      today + (count === "a" ? 1 : named === -1 ? Number(count) : named) * (unit === "week" ? 7 : 1)
    );
  });
  const rest = words.replace(" day after tomorrow ", "  ");
  if (rest !== words) days.push(today + 2);
  if (rest.includes(" today ")) days.push(today);
  if (/ (?:tomorrow|tmrw|tmr) /.test(rest)) days.push(today + 1);
  return days;
}

const weekdays = "sun mon tue wed thu fri sat".split(" ");
const weekdayName =
  /(?<= )(next |this |on )?(sun(?:day)?|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:r?s)?(?:day)?|fri(?:day)?|sat(?:urday)?)(?= )/g;

function weekdayOf(name: string): number {
  return weekdays.indexOf(name.slice(0, 3));
}

/** 0 is Sunday; the first day of 1970 was a Thursday. */
function weekdayAt(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** The first after today, or that of the week that begins on the coming Monday. */
function comingWeekday(weekday: number, isOfNextWeek: boolean, today: number): number {
  if (!isOfNextWeek) return today + ((weekday - weekdayAt(today) + 6) % 7) + 1;
  const monday = today + ((1 - weekdayAt(today) + 6) % 7) + 1;
  return monday + ((weekday + 6) % 7);
}

function written(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

function todayIn({ now, time_zone }: Moment): number {
  const parts = clockOf(time_zone).formatToParts(now);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(of("year"), of("month") - 1, of("day")) / dayMs;
}

function clockOf(timeZone: string | null): Intl.DateTimeFormat {
  const fields = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    calendar: "iso8601",
  } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { ...fields, timeZone: timeZone ?? "UTC" });
  } catch (error) {
    if (error instanceof RangeError) {
      return new Intl.DateTimeFormat("en-US", { ...fields, timeZone: "UTC" });
    }
    throw error;
  }
}
