import { scan, type UnscopedReads } from "../../store/index.ts";
import { decodeLane, poolOf, remoteOf, type Lane, type Pool } from "../jobs/lane.ts";
import { leaseMs } from "../jobs/lease.ts";
import { jobsByDueTime, type StoredJobName } from "../jobs/rows.ts";
import type { DueJob } from "./round-robin.ts";

/** How far the clocks of two engines may differ, in milliseconds. */
const maxClockDifferenceMs = 1_000;

interface OthersRemotesOptions {
  readonly reads: UnscopedReads;
  /** The remotes that this engine has. */
  readonly remotes: ReadonlySet<string>;
  /** Whether this engine runs a job. */
  readonly isRunning: (job: StoredJobName) => boolean;
  /**
   * How long the jobs of a remote that this engine lacks are left to others, in milliseconds. If
   * another engine is then seen to serve the remote, they are left to it for as long again, and so
   * on.
   */
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

  /**
   * Returns how long a due job of a lane is left to other engines, in milliseconds: 0 if this
   * engine has its remote, Infinity while another one serves it. An engine that has the remote
   * takes the job within one poll, or serves others of the remote. If no engine has it, this one
   * takes the job later, so that the job's messages expire.
   */
  waitMs(lane: Lane, now: number): number {
    const { leftMs } = this.#options;
    const remote = this.#missingRemoteOf(lane);
    if (remote === undefined) return 0;
    const until = this.#leftUntil.get(remote) ?? -Infinity;
    // The clock may have been set back.
    return now < until && until <= now + leftMs ? Infinity : leftMs;
  }

  /** Finds out which remotes other engines serve. Returns the jobs that call none of these. */
  async leaveOut(found: readonly DueJob[], now: number): Promise<readonly DueJob[]> {
    const pools = new Map<string, Pool>();
    for (const { lane } of found) {
      const remote = this.#missingRemoteOf(lane);
      if (remote !== undefined) pools.set(remote, poolOf(lane));
    }
    if (pools.size === 0) return found;
    const checks = [...pools].map(async ([remote, pool]) => {
      const isServed = await this.#isLeasedByOthers(remote, pool, now);
      if (isServed) this.#leftUntil.set(remote, now + this.#options.leftMs);
    });
    await Promise.all(checks);
    return found.filter(({ lane }) => this.waitMs(lane, now) < Infinity);
  }

  #missingRemoteOf(lane: Lane): string | undefined {
    const remote = remoteOf(lane);
    return remote !== undefined && this.#options.remotes.has(remote) ? undefined : remote;
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
