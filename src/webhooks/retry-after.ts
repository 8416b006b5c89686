/** Nobody is waited for longer; also what a number too large to count is taken for. */
export const longestRetryAfterMs = 86_400_000;

/** The three forms of RFC 9110, 5.6.7, by how they begin; `Date.parse` reads them all, and too much besides. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * What a `Retry-After` header asks for, in milliseconds from now (RFC 9110, 10.2.3): seconds, or a date. Fractions of seconds are
 * rounded up. A date that is past asks for nothing: 0. What is neither (negative, several at once) was not said: `undefined`.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d+(?:\.\d*)?$/.test(value)) {
    return Math.min(Math.ceil(Number(value)) * 1_000, longestRetryAfterMs);
  }
  if (!httpDate.test(value)) return undefined;
  // The oldest form names no zone, and means the same as the others.
  const date = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), longestRetryAfterMs);
}
