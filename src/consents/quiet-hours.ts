import { LRUCache } from "lru-cache";
import type { QuietHours } from "../operations/consent-settings.ts";

const secondMs = 1_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Changes of the clock that one stretch of quiet can meet. There are two a year. */
const mostChanges = 8;

/**
 * The first moment from `now` on at which the recipient's clock is out of the quiet hours; null when it is now. What the clock shows
 * counts: where it is set forward over the end, the quiet ends with the leap; what it shows twice is judged twice.
 */
export function quietUntil(now: number, zone: string, { from, to }: QuietHours): number | null {
  let at = now;
  for (let changes = 0; changes < mostChanges; changes++) {
    const offset = offsetAt(zone, at);
    const left = quietLeft(at + offset, minutesOf(from) * minuteMs, minutesOf(to) * minuteMs);
    if (left === 0) break;
    at = changeOfOffset(zone, at, at + left, offset) ?? at + left;
  }
  return at === now ? null : at;
}

/** The first of these that is a time zone; none is UTC. */
export function zoneOf(...zones: readonly (string | null | undefined)[]): string {
  return zones.find((zone) => typeof zone === "string" && formatOf(zone) !== null) ?? "UTC";
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** How long a clock that is never set stays in the quiet hours; 0 when it is out of them. */
function quietLeft(local: number, from: number, to: number): number {
  const time = modulo(local, dayMs);
  const since = modulo(time - from, dayMs);
  const length = modulo(to - from, dayMs);
  return since < length ? length - since : 0;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** When the zone's clock is set, after `from` and until `to`. No zone's is set twice in a day. */
function changeOfOffset(
  zone: string,
  from: number,
  to: number,
  offset: number,
): number | undefined {
  if (offsetAt(zone, to) === offset) return undefined;
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = before + Math.floor((after - before) / 2);
    if (offsetAt(zone, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** How far a zone's clock is ahead of UTC, in milliseconds. */
function offsetAt(zone: string, at: number): number {
  const parts = formatOf(zone)?.formatToParts(at) ?? [];
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = "0", minutes = "0", seconds = "0"] =
    /^GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(name) ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * secondMs;
  return sign === "-" ? -ahead : ahead;
}

/** Making one takes longer than anything that is done with it. */
const formats = new LRUCache<string, { readonly format: Intl.DateTimeFormat | null }>({ max: 200 });

/** Tells a zone's offsets; null where there is no such zone. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  let known = formats.get(zone);
  if (known === undefined) formats.set(zone, (known = { format: makeFormat(zone) }));
  return known.format;
}

function makeFormat(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    return null;
  }
}
