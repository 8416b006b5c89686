import type { UnscopedReads } from "../../store/index.ts";
import type { Pool } from "../jobs/lane.ts";
import { jobsByDueTime, type JobRow } from "../jobs/rows.ts";

interface DueRange {
  readonly pool: Pool;
  /** Only jobs that are due after this time. */
  readonly after?: number;
  /** Only jobs that are due at this time or earlier. */
  readonly until?: number;
  readonly limit: number;
}

/** Reads jobs of one pool in the order of their due times, leased jobs included. */
export function readByDueTime(
  reads: UnscopedReads,
  { pool, after, until, limit }: DueRange,
): Promise<readonly JobRow[]> {
  return reads.range({
    index: jobsByDueTime,
    prefix: [pool],
    order: "ascending",
    ...(after === undefined ? {} : { after: [after] }),
    ...(until === undefined ? {} : { until: [until + 1] }),
    limit,
  });
}

/** Returns when the first job of these pools is due, leased jobs included. Makes one round trip. */
export async function firstDueAt(
  reads: UnscopedReads,
  pools: readonly Pool[],
): Promise<number | undefined> {
  const keys = pools.map((pool) => [pool]);
  const first = await reads.lists(jobsByDueTime, keys, 1);
  const times = first.flat().map(({ due_at }) => due_at);
  return times.length === 0 ? undefined : Math.min(...times);
}
