/** The series that the charts of the overview show. */
import type { HourlyUsage } from "../../../../../src/index.ts";

/** The numbers that the overview counts. */
export const measures = ["accepted", "delivered", "failed", "received"] as const;
export type Measure = (typeof measures)[number];

/** Sums of the hours of each bucket. */
export interface Series {
  /** When each bucket begins, in seconds since 1970. */
  readonly times: readonly number[];
  readonly counts: { readonly [measure in Measure]: readonly number[] };
  /** The median time to delivery in each bucket, in seconds. Null without deliveries. */
  readonly median: readonly (number | null)[];
  /** The 95th percentile. */
  readonly slow: readonly (number | null)[];
  readonly totals: { readonly [measure in Measure]: number };
  readonly totalMedian: number | null;
  readonly totalSlow: number | null;
}

const hourSeconds = 3600;

/** Sums the hours in buckets of `hours` hours, which end with the last hour. */
export function seriesOf(usage: HourlyUsage, hours: number): Series {
  const last = Date.parse(usage.to) / 1000;
  const size = hours * hourSeconds;
  const first = Date.parse(usage.from) / 1000;
  const length = Math.max(1, Math.ceil((last + hourSeconds - first) / size));
  const start = last + hourSeconds - length * size;
  const zeros = (): number[] => Array.from({ length }, () => 0);
  const counts = { accepted: zeros(), delivered: zeros(), failed: zeros(), received: zeros() };
  const bins = usage.delivery_bounds.length + 1;
  const times = Array.from({ length }, () => Array.from({ length: bins }, () => 0));
  const all = Array.from({ length: bins }, () => 0);
  for (const row of usage.data) {
    const at = Math.floor((Date.parse(row.hour) / 1000 - start) / size);
    const bucket = times[at];
    if (bucket === undefined) continue;
    for (const measure of measures) counts[measure][at] = (counts[measure][at] ?? 0) + row[measure];
    row.delivery_times.forEach((count, bin) => {
      bucket[bin] = (bucket[bin] ?? 0) + count;
      all[bin] = (all[bin] ?? 0) + count;
    });
  }
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return {
    times: Array.from({ length }, (_, index) => start + index * size),
    counts,
    median: times.map((bucket) => percentile(bucket, usage.delivery_bounds, 0.5)),
    slow: times.map((bucket) => percentile(bucket, usage.delivery_bounds, 0.95)),
    totals: {
      accepted: sum(counts.accepted),
      delivered: sum(counts.delivered),
      failed: sum(counts.failed),
      received: sum(counts.received),
    },
    totalMedian: percentile(all, usage.delivery_bounds, 0.5),
    totalSlow: percentile(all, usage.delivery_bounds, 0.95),
  };
}

/** Estimates a percentile from a histogram. Null if it is empty. */
export function percentile(
  bins: readonly number[],
  bounds: readonly number[],
  share: number,
): number | null {
  const total = bins.reduce((a, b) => a + b, 0);
  if (total === 0) return null;
  const wanted = total * share;
  let seen = 0;
  for (const [bin, count] of bins.entries()) {
    if (seen + count >= wanted && count > 0) {
      const low = bounds[bin - 1] ?? 0;
      // Nothing is known about the times beyond the last bound, except that they are longer.
      const high = bounds[bin] ?? low;
      return low + (high - low) * ((wanted - seen) / count);
    }
    seen += count;
  }
  return bounds.at(-1) ?? null;
}
