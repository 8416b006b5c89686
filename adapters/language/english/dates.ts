/**
 * Days as people write them. A library such as chrono-node takes the likeliest meaning of a text. A
 * playbook must not book the wrong day, so this reads a day only if the text can mean no other.
 */
import { Temporal } from "temporal-polyfill";
import { firstTimeZone, normalizedWords } from "../../../src/kernel/index.ts";
import type { DateContext } from "../../../src/ports/index.ts";
import { units } from "./answers.ts";
import { isDenied } from "./set-phrases.ts";

type Day = Temporal.PlainDate;

/** A day that a text names; null if there is no such day, or if it could be either of two. */
type NamedDay = Day | null;

/**
 * Reads `2026-12-01`, `1.12.2026`, `12/1/2026`, `Dec 1`, `1st of December`, `today`, `tomorrow`,
 * `in three days`, `in two weeks`, `Friday` (the coming one, never today), and `next Friday` or
 * `Friday next week` (the one of next week). A day without a year is the next one from today on.
 */
export function readDate(text: string, context: DateContext): string | undefined {
  if (isDenied(text)) return undefined;
  const today = Temporal.Instant.fromEpochMilliseconds(Math.floor(context.now))
    .toZonedDateTimeISO(firstTimeZone(context.timeZone))
    .toPlainDate();
  const written = text.toLowerCase();
  const words = ` ${normalizedWords(text)} `;
  const otherWords = words
    .replaceAll(distance, "  ")
    .replaceAll(nextWeek, "  ")
    .replaceAll(dayAfterTomorrow, "  ");
  if (pointsElsewhere.test(otherWords) || signedDays.test(written)) return undefined;
  const weekdays = weekdaysIn(words);
  const dated = datedDays(written, today, context.isMonthFirst);
  const relative = [...relativeDays(words, today), ...weekdays.map((each) => dayOn(each, today))];
  const [day, ...others] = distinct(dated.length > 0 ? dated : relative);
  if (day === undefined || day === null || others.length > 0) return undefined;
  // "Friday, December 5" is a mistake if that day is a Saturday. "Friday the 5th" is another Friday
  // than the coming one if that is not a 5th.
  const isContradicted =
    dated.length > 0
      ? weekdays.some(({ weekday }) => weekday !== day.dayOfWeek)
      : bareDays(written).some((date) => date !== day.day) || unreadDate.test(words);
  return isContradicted ? undefined : day.toString();
}

function distinct(days: readonly NamedDay[]): NamedDay[] {
  return [...new Map(days.map((day) => [String(day), day])).values()];
}

const weekdayForms =
  "sun(?:day)?|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|" +
  "thu(?:r?s)?(?:day)?|fri(?:day)?|sat(?:urday)?";
const monthForms =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|" +
  "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
const nearDays = "today|tomorrow|tmrw|tmr";
/** Words that mean all days before or after a day: "I am away until Friday". */
const bounds = "before|after|until|till?|through|thru|up to|from|starting|since";

/**
 * Words by which a day is not the one that it names, or only one of several: "a week tomorrow",
 * "last Friday", "the day after Friday", "every Friday", "this Friday or next", "in 2 days or 3".
 */
const pointsElsewhere = new RegExp(
  [
    String.raw`(?<! (?:all|this)) (?:weeks?|months?|years?) `,
    " (?:fortnight|ago|yesterday|every|day (?:before|after)|days (?:after|before|from|later)) ",
    " days? or ",
    ` (?:plus|minus|and) (?:a|\\d+|${units.join("|")}) days? `,
    " (?:after next|or (?:the )?(?:next|following)) | next $",
    " (?:onwards?|or (?:later|earlier|sooner)) ",
    " (?:first|second|third|fourth|last|past|previous|following) " +
      `(?:${weekdayForms}|${monthForms}) `,
    ` (?:${bounds}) (?:(?:the|this|next) )?(?:${weekdayForms}|${nearDays}) `,
  ].join("|"),
);
/** "In -1 days" is no day, and "Friday + 2 days" is not Friday. */
const signedDays = /[-+−–—]\s*\d+\)?\s*(?:day|week)/;
/** A month or a date that is not read: "Friday in January", "Friday the eleventh". */
const unreadDate = new RegExp(
  ` (?:(?:in|of|early|mid|late) (?:${monthForms})|(?:the|twenty|thirty) (?:first|second|third)|` +
    "(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]+teen|twentie|thirtie)th) ",
);

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const month = String.raw`(${monthForms})\b\.?`;
const dayOfMonth = String.raw`(\d{1,2})(?:st|nd|rd|th)?\b`;
const year = String.raw`(?:(?:,\s*|\s+)(?:of\s+)?(\d{4})\b)?`;
/** A year that is not read with its date: "2028, Jan 5", "Jan 5 in 2028", "Jan 5, '28". */
const unreadYear = /(?<![\d./-])(?:19|20|21)\d{2}(?![./-]?\d)|['’]\d{2}(?!\d)/;

const isoForm = /(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])/g;
const dotForm = /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})?(?!\d)/g;
/** "24/7" means always, and no day. */
const slashForm = /(?<![\d/])(?!24\/7(?![\d/]))(\d{1,2})\/(\d{1,2})(?:\/(\d{4}|\d{2}))?(?![\d/])/g;
const monthForm = new RegExp(String.raw`\b${month}\s+(?:the\s+)?${dayOfMonth}${year}`, "g");
const dayForm = new RegExp(String.raw`\b${dayOfMonth}\s+(?:of\s+)?${month}${year}`, "g");

/**
 * A date with another number beside it is one of several days, as in "Dec 5 or 6", "5-6 Dec" and
 * "Dec 5, 6", unless the number is a time. "After Dec 5" may be another day.
 */
const between =
  String.raw`\s*,?\s*(?:[-–—&+/]|\b(?:or|and|to|till|until|thru|through)\b)` +
  String.raw`\s*(?:the\s+)?`;
const timeMark = String.raw`\d|[:.]\d|\s?(?:[ap]\.?m|h|uhr|o'?clock)\b`;
const listEnd = String.raw`\s*(?:$|[.,;!?\n](?!\d)|[-–—&+]|\b(?:or|and|works?|please)\b)`;
const numberAfter = new RegExp(
  String.raw`^(?:${between}\d{1,2}(?!${timeMark})|` +
    String.raw`\s*,\s*\d{1,2}(?:st|nd|rd|th)?(?=${listEnd}))`,
);
const numberOrBoundBefore = new RegExp(
  String.raw`\b(?:\d{1,2}(?:st|nd|rd|th)?${between}|(?:${bounds})\s+(?:the\s+)?)$`,
);
/** Before a day, a number makes a list with it: "5, 6 Dec". Before a month, it does not. */
const dayBefore = /(?<![\d:./])\d{1,2}(?:st|nd|rd|th)?\s*,\s*(?:the\s+)?$/;

/** Days that are written with their month. */
function datedDays(text: string, today: Day, isMonthFirst: boolean): NamedDay[] {
  const daysIn = (form: RegExp, toDay: (found: RegExpExecArray) => NamedDay): NamedDay[] =>
    [...text.matchAll(form)].map((found) => {
      const [before, after] = [
        text.slice(0, found.index),
        text.slice(found.index + found[0].length),
      ];
      const isUnclear =
        numberOrBoundBefore.test(before) ||
        numberAfter.test(after) ||
        (!/\d{4}/.test(found[0]) && [before, after].some((rest) => unreadYear.test(rest)));
      return isUnclear ? null : toDay(found);
    });
  const day = (year: string | undefined, month: number, date: string): NamedDay =>
    year === undefined
      ? nextDay(month, Number(date), today)
      : dayOf(Number(year) < 100 ? 2_000 + Number(year) : Number(year), month, Number(date));
  return [
    ...daysIn(isoForm, ([, year, month, date = ""]) => day(year, Number(month), date)),
    ...daysIn(dotForm, ([, date = "", month, year]) => day(year, Number(month), date)),
    ...daysIn(slashForm, ([, a = "", b = "", year]) => {
      if (Number(a) > 12) return day(year, Number(b), a);
      return isMonthFirst || Number(b) > 12 || a === b ? day(year, Number(a), b) : null;
    }),
    ...daysIn(monthForm, ([, name = "", date = "", year]) => day(year, monthOf(name), date)),
    ...daysIn(dayForm, ({ 1: date = "", 2: name = "", 3: year, input, index }) =>
      dayBefore.test(input.slice(0, index)) ? null : day(year, monthOf(name), date),
    ),
  ];
}

function monthOf(name: string): number {
  return monthNames.indexOf(name.slice(0, 3)) + 1;
}

/** The first such day from today on. February 29 may be up to eight years away. */
function nextDay(month: number, date: number, today: Day): NamedDay {
  for (let years = 0; years <= 8; years++) {
    const day = dayOf(today.year + years, month, date);
    if (day !== null && Temporal.PlainDate.compare(day, today) >= 0) return day;
  }
  return null;
}

function dayOf(year: number, month: number, day: number): NamedDay {
  if (year < 1900 || year >= 2200 || month < 1 || day < 1) return null;
  // Temporal moves a day that does not exist to the end of its month.
  const date = Temporal.PlainDate.from({ year, month, day });
  return date.month === month && date.day === day ? date : null;
}

/** "In three days", but not "in three days or four". */
const distance = new RegExp(
  String.raw` in (a|\d{1,3}|${units.join("|")}) (day|week)s? (?!or )`,
  "g",
);

const nextWeek = /(?<! or) next week /g;
const dayAfterTomorrow = " day after tomorrow ";

function relativeDays(words: string, today: Day): Day[] {
  const days = [...words.matchAll(distance)].map(([, count = "", unit]) => {
    const amount = count === "a" ? 1 : units.includes(count) ? units.indexOf(count) : Number(count);
    return today.add(unit === "week" ? { weeks: amount } : { days: amount });
  });
  const rest = words.replace(dayAfterTomorrow, "  ");
  if (rest !== words) days.push(today.add({ days: 2 }));
  if (rest.includes(" today ")) days.push(today);
  if (/ (?:tomorrow|tmrw|tmr) /.test(rest)) days.push(today.add({ days: 1 }));
  return days;
}

interface Weekday {
  /** From 1, Monday, to 7, Sunday. */
  readonly weekday: number;
  /** Whether it is called "this Friday". */
  readonly isThis: boolean;
  /** Whether it is called "Friday this week". */
  readonly isThisWeek: boolean;
  readonly isNextWeek: boolean;
}

const weekdayNames = "mon tue wed thu fri sat sun".split(" ");
const weekdayForm = new RegExp(`(?<= )(next |this |on )?(${weekdayForms})(?= )`, "g");
/** "I sat there" and "in the sun" name no days. */
const noWeekdays = / (?:(?:i|we|you|he|she|they|who) sat|the sun)(?= )/g;

function weekdaysIn(words: string): Weekday[] {
  const isNextWeek = words.search(nextWeek) !== -1;
  return [...words.replaceAll(noWeekdays, " ").matchAll(weekdayForm)].map(
    ([, which = "", name = ""]) => ({
      weekday: weekdayNames.indexOf(name.slice(0, 3)) + 1,
      isThis: which === "this ",
      isThisWeek: words.includes(" this week "),
      isNextWeek: isNextWeek || which === "next ",
    }),
  );
}

/** Dates without their month: "the 5th", "Friday 5", but not "Friday 5 people". */
const ordinal = /\b(\d{1,2})(?:st|nd|rd|th)\b/g;
const afterWeekday = new RegExp(
  String.raw`\b(?:${weekdayForms}),?\s+(\d{1,2})` +
    String.raw`(?=\s*(?:$|[.,;!?\n](?!\d))|\s+(?:at|please|thanks?|works?|would|is|if|or|and)\b)`,
  "g",
);

function bareDays(text: string): number[] {
  return [...text.matchAll(ordinal), ...text.matchAll(afterWeekday)].map(([, date]) =>
    Number(date),
  );
}

/**
 * The first such day after today, or the one of the week that begins on the coming Monday. On a
 * Friday, "this Friday" could be either of two days, and "Thursday this week" is over.
 */
function dayOn({ weekday, isThis, isThisWeek, isNextWeek }: Weekday, today: Day): NamedDay {
  if (isThis && weekday === today.dayOfWeek) return null;
  if (isThisWeek && weekday <= today.dayOfWeek) return null;
  const monday = today.add({ days: 8 - today.dayOfWeek });
  if (isNextWeek) return monday.add({ days: weekday - 1 });
  return today.add({ days: ((weekday - today.dayOfWeek + 6) % 7) + 1 });
}
