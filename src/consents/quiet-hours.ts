import { Temporal } from "temporal-polyfill";
import type { QuietHours } from "../operations/index.ts";

/**
 * Returns the first time from `now` on at which the wall clock of a time zone is outside the quiet
 * hours; null if it is outside now. The wall clock decides: if the zone sets it forward over the
 * end, the quiet hours end with that change. If the zone sets it back over the end, the quiet hours
 * begin a second time.
 */
export function quietUntil(now: number, zone: string, { from, to }: QuietHours): number | null {
  const start = Temporal.PlainTime.from(from);
  const end = Temporal.PlainTime.from(to);
  let at = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(zone);
  if (!isWithin(at, start, end)) return null;
  while (isWithin(at, start, end)) at = endOrClockChange(at, end);
  return at.epochMilliseconds;
}

/** Includes the start and excludes the end. The end may be on the next day. */
function isWithin(
  at: Temporal.ZonedDateTime,
  start: Temporal.PlainTime,
  end: Temporal.PlainTime,
): boolean {
  const time = at.toPlainTime();
  const hasStarted = Temporal.PlainTime.compare(start, time) <= 0;
  const hasNotEnded = Temporal.PlainTime.compare(time, end) < 0;
  const isOverMidnight = Temporal.PlainTime.compare(start, end) > 0;
  return isOverMidnight ? hasStarted || hasNotEnded : hasStarted && hasNotEnded;
}

/** When the wall clock reaches `end`, or when the zone changes its offset from UTC before that. */
function endOrClockChange(
  at: Temporal.ZonedDateTime,
  end: Temporal.PlainTime,
): Temporal.ZonedDateTime {
  const sameDay = at.toPlainTime().until(end);
  const ending = at.add(sameDay.sign < 0 ? sameDay.add({ hours: 24 }) : sameDay);
  const change = at.getTimeZoneTransition("next");
  return change !== null && Temporal.ZonedDateTime.compare(change, ending) < 0 ? change : ending;
}
