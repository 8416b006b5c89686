/** Time zones of the IANA database, as far as the runtime knows them. */
import { LRUCache } from "lru-cache";
import { Temporal } from "temporal-polyfill";

/** To ask the runtime takes some 50 microseconds. */
const known = new LRUCache<string, boolean>({ max: 500 });

/** Whether the runtime knows a time zone of this name. An offset such as `+01:00` is not a name. */
export function isTimeZone(name: string): boolean {
  let isKnown = known.get(name);
  if (isKnown === undefined) known.set(name, (isKnown = isNameOfZone(name)));
  return isKnown;
}

function isNameOfZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the first name that is a time zone, and `UTC` if none is. */
export function firstTimeZone(...names: readonly (string | null | undefined)[]): string {
  return names.find((name) => typeof name === "string" && isTimeZone(name)) ?? "UTC";
}

/** The wall clock of a time zone at a time, which is given in milliseconds since the epoch. */
export function zonedTime(at: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone);
}
