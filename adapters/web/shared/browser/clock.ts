/** The time by the server's clock, since that of a browser may be wrong, and the time zone. */
import { signal } from "@preact/signals";

/** A smaller difference comes from a slow response, and from the header, which has full seconds. */
const toleranceMs = 5_000;

/** How far the server's clock is ahead of the browser's, in ms. */
export const clockOffset = signal(0);

/** The time in ms since 1970. */
export const timeNow = (): number => Date.now() + clockOffset.peek();

/** Takes the time from the header `Date` of a response that no cache has kept. */
export function noteServerTime(header: string | null): void {
  const ahead = Date.parse(header ?? "") - Date.now();
  if (Number.isNaN(ahead) || Math.abs(ahead - clockOffset.peek()) <= toleranceMs) return;
  clockOffset.value = Math.abs(ahead) <= toleranceMs ? 0 : ahead;
}

const zoneNow = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone of the browser. It changes when a person travels, or sets the computer's clock. */
export const timeZone = signal(zoneNow());

/** Reads the time zone again. No event tells of a change. */
export const noteTimeZone = (): void => {
  timeZone.value = zoneNow();
};
