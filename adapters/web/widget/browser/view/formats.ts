/** Dates in the language of the page. */
import type { Texts } from "../texts.ts";

const locale = document.documentElement.lang || undefined;

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, options);
  } catch {
    // The page names a language that does not exist.
    return new Intl.DateTimeFormat(undefined, options);
  }
}

const zoneNow = (): string => format({}).resolvedOptions().timeZone;

const formatsNow = () => ({
  time: format({ hour: "numeric", minute: "2-digit" }),
  day: format({ weekday: "long", month: "long", day: "numeric" }),
  older: format({ year: "numeric", month: "long", day: "numeric" }),
  full: format({ dateStyle: "full", timeStyle: "short" }),
});

let zone = zoneNow();
let formats = formatsNow();

/**
 * Makes the formats again if the time zone has changed. A format keeps the zone in which it was
 * made, and a visitor may travel.
 */
export function noteTimeZone(): void {
  const next = zoneNow();
  if (next === zone) return;
  zone = next;
  formats = formatsNow();
}

/** `14:05`. */
export const shortTime = (at: number): string => formats.time.format(at);
/** The date and the time. */
export const fullTime = (at: number): string => formats.full.format(at);

/** Returns a text for the day, in the time zone of the browser. Each day has another text. */
export const dayOf = (at: number): string => new Date(at).toDateString();

/** `Today`, `Yesterday` or a date. Yesterday is the day before, also when clocks are changed. */
export function dayName(at: number, { today, yesterday }: Texts): string {
  const now = new Date();
  if (dayOf(at) === now.toDateString()) return today;
  now.setDate(now.getDate() - 1);
  if (dayOf(at) === now.toDateString()) return yesterday;
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear();
  return (isThisYear ? formats.day : formats.older).format(at);
}
