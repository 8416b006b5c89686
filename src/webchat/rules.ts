/** Messages of one session in `paceMs`: more than a person writes. */
const paceMessages = 20;
const paceMs = 10_000;

export type Pace =
  | { readonly admitted: true; readonly recent: readonly number[] }
  | { readonly admitted: false; readonly retryAfterMs: number };

/** Whether one more message may come now, by when the last ones did. Exact: no ten seconds have more than 20. */
export function pace(recent: readonly number[], now: number): Pace {
  // What lies ahead was written before the clock was set back, who knows how long ago.
  const counted = recent.filter((at) => at <= now && at > now - paceMs);
  const [first] = counted;
  if (first !== undefined && counted.length >= paceMessages) {
    return { admitted: false, retryAfterMs: first + paceMs - now };
  }
  return { admitted: true, recent: [...counted, now] };
}
