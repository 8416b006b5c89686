let last = Number.NaN;
let lastText = "";

/**
 * Milliseconds since the epoch, as resources show them: ISO 8601 in UTC with milliseconds. What is shown together is mostly of one
 * moment, so the last one is remembered.
 */
export function iso(ms: number): string {
  if (ms !== last) {
    lastText = new Date(ms).toISOString();
    last = ms;
  }
  return lastText;
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** A time of an input, in milliseconds; its schema has made sure that it is one. */
export function millis(text: string): number {
  return Date.parse(text);
}
