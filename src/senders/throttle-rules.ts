/**
 * How fast a sender may be: bounds on its hand-overs, in any stretch of time. Hand-over number `n` keeps one when it is no sooner than a
 * whole stretch after number `n - most`.
 */
export interface Pace {
  readonly messages_per_second: number | null;
  readonly daily_cap: number | null;
}

/** At most `most` in any `within` milliseconds. */
export interface Bound {
  readonly most: number;
  readonly within: number;
}

const secondMs = 1_000;
const dayMs = 86_400_000;

/** So many in a second where that is a whole number, else one at a time. */
export function boundsOf({ messages_per_second: rate, daily_cap }: Pace): Bound[] {
  const bounds: Bound[] = [];
  if (rate !== null) {
    const most = Number.isInteger(rate) ? rate : 1;
    bounds.push({ most, within: Math.ceil((most * secondMs) / rate) });
  }
  if (daily_cap !== null) bounds.push({ most: daily_cap, within: dayMs });
  return bounds;
}

/** How many of the last hand-overs the next one is judged by. */
export function looksBack(pace: Pace): number {
  return Math.max(0, ...boundsOf(pace).map(({ most }) => most));
}
