/**
 * The register of started engines. Each engine holds a lock of the storage while it lives, has a
 * row here, and writes the lock's id into its leases. When nobody holds the lock of a row, its
 * engine has crashed or stopped. Its leases then end before they expire, so that its work continues
 * at once.
 *
 * A free lock does not prove that its engine is gone: a broken connection can free the lock of an
 * engine that lives. Nothing depends on that. A lease never protects a job by its time alone,
 * because a process can stall for longer. Its fence does:
 * - Ending a lease changes only when the job is due. Until another engine leases the job, its
 *   handler can renew it.
 * - Each lease writes a new fence to the row of the job. A handler reads that row in each
 *   transaction that begins a step, such as a hand-over, and guards its version. Of two engines
 *   that think they have the job, only the one whose fence is in the row can commit.
 * - A carrier call under way then ends without its lease, as after a stall. Its message is
 *   `ambiguous` until the answer arrives, which still counts, or a look-up finds the outcome.
 *   Look-ups wait until the call must have ended (`leased_until` of the attempt), whenever the
 *   lease ended.
 *
 * The row also names options, so that each engine can warn when another living one has different
 * options.
 */
import {
  collection,
  json,
  text,
  time,
  type Clock,
  type EngineLock,
  type EngineLocks,
  type KeyValue,
  type Logger,
} from "../ports/index.ts";
import { background, scan, type Scan, type Store, type UnscopedTx } from "../store/index.ts";
import { OptionWarnings, type ComparedOptions } from "./compare-options.ts";
import { Follower } from "./follower.ts";
import { pools, type Pool } from "./jobs/lane.ts";
import { pauseAfter } from "./jobs/lease.ts";
import { jobByName, jobs, jobsByDueTime, type JobRow, type StoredJobName } from "./jobs/rows.ts";

export const engines = collection("engines", {
  /** The id of the engine's lock. */
  id: text(),
  started_at: time(),
  options: json<ComparedOptions>(),
});
export const engineById = engines.key("id");

interface EngineRegisterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Undefined if the storage has no locks of engines. The register then does nothing. */
  readonly locks: EngineLocks | undefined;
  readonly comparedOptions: ComparedOptions;
}

/** The maximum number of engines that one check reads. */
const maxEngines = 1_000;
/** How many leases one transaction ends. */
const chunk = 100;
/**
 * A time that is longer than every lease, in milliseconds. An agent's turn can have one of five
 * minutes.
 */
const longestLeaseMs = 600_000;

/** Registers one engine, and ends the leases of engines that are gone. */
export class EngineRegister {
  readonly #options: EngineRegisterOptions;
  readonly #follower: Follower;
  readonly #warnings: OptionWarnings;
  #lock: EngineLock | undefined;

  constructor(options: EngineRegisterOptions) {
    this.#options = options;
    this.#warnings = new OptionWarnings({ ...options, own: options.comparedOptions });
    this.#follower = new Follower({
      ...options,
      step: async () => {
        await this.#check();
        return "wait";
      },
      failureText: "crashed engines could not be found; retrying",
      recoveryText: "crashed engines can be found again",
    });
  }

  /** Registers the engine, and begins to look for engines that are gone. */
  async start(): Promise<void> {
    const { locks } = this.#options;
    if (locks === undefined) return;
    this.#lock = await locks.take();
    try {
      await this.#register();
    } catch (error) {
      await this.#lock?.release();
      throw error;
    }
    this.#follower.start();
  }

  /**
   * The id to write into leases. Null while the lock is not held: the leases then end only when
   * they expire.
   */
  get leasedBy(): string | null {
    return this.#lock?.isHeld() === true ? this.#lock.id : null;
  }

  /**
   * Releases the lock. `isIdle` says that no job of this engine is leased. Otherwise the row stays,
   * so that another engine ends the leases.
   */
  async stop({ isIdle }: { readonly isIdle: boolean }): Promise<void> {
    await this.#follower.stop();
    const lock = this.#lock;
    if (lock === undefined) return;
    // If this fails, another engine removes the row.
    if (isIdle) await this.#remove(lock.id).catch(() => {});
    await lock.release();
  }

  async #check(): Promise<void> {
    const { store, locks } = this.#options;
    if (locks === undefined) return;
    // The process may have failed to take the lock when it started, as without a file descriptor.
    this.#lock ??= await locks.take();
    const rows = await store.unscopedReads.range({
      index: engineById,
      prefix: [],
      order: "ascending",
      limit: maxEngines,
    });
    const own = this.leasedBy;
    // Another engine removed the row while this one had lost its lock.
    if (own !== null && !rows.some(({ id }) => id === own)) await this.#register();
    const others = rows.filter(({ id }) => id !== this.#lock?.id);
    const ids = others.map(({ id }) => id);
    const gone = ids.length === 0 ? [] : await this.#findGone(locks, ids);
    for (const id of gone) await this.#endLeases(id);
    this.#warnings.check(others.filter(({ id }) => !gone.includes(id)));
  }

  /** Returns the ids of locks that stay free for the grace period. Their engines are gone. */
  async #findGone(locks: EngineLocks, ids: readonly string[]): Promise<readonly string[]> {
    const free = await locks.findFree(ids);
    if (free.length === 0 || locks.graceMs === 0) return free;
    const { stopping } = this.#follower;
    await this.#options.clock.sleep(locks.graceMs, stopping);
    return stopping.aborted ? [] : locks.findFree(free);
  }

  /**
   * Ends the leases of an engine that is gone. Removes its row if it had none. Otherwise the next
   * check looks again, since a commit of the engine may have been under way when it crashed.
   */
  async #endLeases(id: string): Promise<void> {
    let ended = 0;
    for (const pool of pools) ended += await this.#endLeasesIn(pool, id);
    if (this.#follower.stopping.aborted) return;
    if (ended === 0) await this.#remove(id);
    else this.#options.logger.info({ jobs: ended }, "jobs of an engine that has ended continue");
  }

  /** Finds the leases in the order of the due times: that of a leased job is its lease's expiry. */
  async #endLeasesIn(pool: Pool, id: string): Promise<number> {
    const { store, clock } = this.#options;
    const now = clock.now();
    let ended = 0;
    let after: readonly KeyValue[] | undefined = [now];
    while (after !== undefined && !this.#follower.stopping.aborted) {
      const found: Scan<JobRow> = await scan(store.unscopedReads, {
        index: jobsByDueTime,
        prefix: [pool],
        order: "ascending",
        after,
        until: [now + longestLeaseMs],
        where: { leased: true, leased_by: id },
        limit: chunk,
      });
      if (found.rows.length > 0) {
        ended += await store.commitUnscoped((tx) => endLeases(tx, id, found.rows), background);
      }
      after = found.more ? found.last : undefined;
      await store.yieldToEventLoop();
    }
    return ended;
  }

  async #register(): Promise<void> {
    const lock = this.#lock;
    if (lock === undefined) return;
    const { store, comparedOptions: options } = this.#options;
    await store.commitUnscoped(async (tx) => {
      if ((await tx.get(engineById, [lock.id])) !== undefined) return;
      tx.insert(engines, { id: lock.id, started_at: tx.now, options });
    }, background);
  }

  async #remove(id: string): Promise<void> {
    await this.#options.store.commitUnscoped(async (tx) => {
      const row = await tx.get(engineById, [id]);
      if (row !== undefined) tx.remove(engines, row);
    }, background);
  }
}

/**
 * Makes the named jobs due again if a gone engine still has their lease. Returns how many there
 * were. A job that has failed or was interrupted since its last success waits first, longer each
 * time, but at most until its lease expires. So if its handler ends the process each time, other
 * jobs can run in between.
 */
export async function endLeases(
  tx: UnscopedTx,
  engine: string,
  names: readonly StoredJobName[],
): Promise<number> {
  const found = await Promise.all(names.map(({ kind, key }) => tx.get(jobByName, [kind, key])));
  let ended = 0;
  for (const job of found) {
    if (job?.leased !== true || job.leased_by !== engine || job.due_at <= tx.now) continue;
    const pause = job.failures === 0 ? 0 : pauseAfter(job.failures);
    tx.update(jobs, job, {
      due_at: Math.min(job.due_at, tx.now + pause),
      failures: job.failures + 1,
    });
    ended++;
  }
  return ended;
}
