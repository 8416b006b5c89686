import type { UnscopedReads } from "../../store/index.ts";
import { decodeLane, remoteOf, type Lane, type Pool } from "../jobs/lane.ts";
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

/** Which jobs one engine can run. */
export interface RunnableJobs {
  /** The pools whose jobs run in this engine. */
  readonly pools: readonly Pool[];
  /**
   * The remotes that are configured in this engine: transports and the analyzer. Jobs of other
   * remotes are left to other engines for a while.
   */
  readonly remotes: ReadonlySet<string>;
  /** Whether this engine may run the jobs of a lane at all. */
  readonly serves: (lane: Lane) => boolean;
}

/** How many of the jobs of a pool that have been due for longest are looked at. */
const maxOldest = 16;
/** How many of the jobs of a pool that are due next are looked at, to find a leased one. */
const maxNext = 256;

/**
 * Returns a job that this engine could run and that has been due since `since`, if no dispatcher
 * works on its pool. A dispatcher that works on the pool holds leases, or soon takes the oldest due
 * jobs.
 */
export async function findUnattendedJob(
  reads: UnscopedReads,
  { pools, remotes, serves }: RunnableJobs,
  { now, since }: { readonly now: number; readonly since: number },
): Promise<JobRow | undefined> {
  const isRunnable = ({ lane: text }: JobRow): boolean => {
    const lane = decodeLane(text);
    const remote = remoteOf(lane);
    return serves(lane) && (remote === undefined || remotes.has(remote));
  };
  for (const pool of pools) {
    const oldest = await readByDueTime(reads, { pool, until: since, limit: maxOldest });
    const waiting = oldest.find(isRunnable);
    if (waiting === undefined) continue;
    const next = await readByDueTime(reads, { pool, after: now, limit: maxNext });
    if (!next.some(({ leased }) => leased)) return waiting;
  }
  return undefined;
}
