/** Milliseconds since the epoch, as resources show them: ISO 8601 in UTC with milliseconds. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** A time of an input, in milliseconds; its schema has made sure that it is one. */
export function millis(text: string): number {
  return Date.parse(text);
}
