/** The time by the server's clock, as a browser's clock may be wrong. Also the time zone. */
import { signal } from "@preact/signals";

/** A slow response, or a header in full seconds, can cause a smaller difference. */
const toleranceMs = 5_000;

/** How far the server's clock is ahead of the browser's, in ms. */
export const clockOffset = signal(0);

/** The time in ms since 1970. */
export const timeNow = (): number => Date.now() + clockOffset.peek();

/** Takes the time from the header `Date` of a response that came from the server, not a cache. */
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
