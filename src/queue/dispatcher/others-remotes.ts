import { scan, type UnscopedReads } from "../../store/index.ts";
import { decodeLane, poolOf, remoteOf, type Pool } from "../jobs/lane.ts";
import { leaseMs } from "../jobs/lease.ts";
import { jobsByDueTime, type StoredJobName } from "../jobs/rows.ts";
import type { DueJob } from "./round-robin.ts";

interface OthersRemotesOptions {
  readonly reads: UnscopedReads;
  /** The remotes that this engine has. */
  readonly remotes: ReadonlySet<string>;
  /** Whether this engine runs a job. */
  readonly isRunning: (job: StoredJobName) => boolean;
  /** How long the jobs of a remote that another engine serves are left to it, in milliseconds. */
  readonly leftMs: number;
}

/**
 * The remotes that this engine lacks. While another engine serves one of them, its jobs are left to
 * that engine, however long they have been due: this engine could only put them off. An engine that
 * serves a remote holds leases of its jobs, unless nothing waits for it.
 */
export class OthersRemotes {
  readonly #options: OthersRemotesOptions;
  /** Until when the jobs of a remote are left to others, in milliseconds since the epoch. */
  readonly #leftUntil = new Map<string, number>();

  constructor(options: OthersRemotesOptions) {
    this.#options = options;
  }

  /** Whether another engine has served a remote not long ago. */
  isServed(remote: string, now: number): boolean {
    const until = this.#leftUntil.get(remote) ?? -Infinity;
    // The clock may have been set back.
    return now < until && until <= now + this.#options.leftMs;
  }

  /** Returns the jobs without those of remotes that other engines serve. */
  async leave(found: readonly DueJob[], now: number): Promise<readonly DueJob[]> {
    const { remotes, leftMs } = this.#options;
    const pools = new Map<string, Pool>();
    for (const { lane } of found) {
      const remote = remoteOf(lane);
      if (remote !== undefined && !remotes.has(remote)) pools.set(remote, poolOf(lane));
    }
    if (pools.size === 0) return found;
    const checks = [...pools].map(async ([remote, pool]) => {
      if (await this.#isLeasedByOthers(remote, pool, now)) {
        this.#leftUntil.set(remote, now + leftMs);
      }
    });
    await Promise.all(checks);
    return found.filter(({ lane }) => !this.isServed(remoteOf(lane) ?? "", now));
  }

  /** Looks for a lease, the last ones first. Leased jobs are in the order of their leases' ends. */
  async #isLeasedByOthers(remote: string, pool: Pool, now: number): Promise<boolean> {
    const { reads, isRunning } = this.#options;
    const { rows } = await scan(reads, {
      index: jobsByDueTime,
      prefix: [pool],
      order: "descending",
      after: [now + leaseMs + maxClockDifferenceMs],
      until: [now],
      where: { leased: true },
      keep: (job) => remoteOf(decodeLane(job.lane)) === remote && !isRunning(job),
      limit: 1,
    });
    return rows.length > 0;
  }
}

/** How far the clocks of two engines may differ, in milliseconds. */
const maxClockDifferenceMs = 1_000;
