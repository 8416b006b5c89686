import type { Clock, Logger, Write } from "../../ports/index.ts";
import type { Store } from "../../store/index.ts";
import { FailureLog } from "../failure-log.ts";
import { poolOf, type Lane, type Pool } from "../jobs/lane.ts";
import { jobs, type JobRow } from "../jobs/rows.ts";
import { WakeFlag } from "../wake-flag.ts";
import { beginAtOnce } from "./begin-at-once.ts";
import { DueJobs } from "./due-jobs.ts";
import { firstDueAt, type RunnableJobs } from "./due-times.ts";
import { OthersRemotes } from "./others-remotes.ts";
import { PoolQueue } from "./pool-queue.ts";
import { dueJob, type DueJob } from "./round-robin.ts";
import { RunningJobs, type RunningJobsOptions } from "./running-jobs.ts";
import { Slots, type SlotsOptions } from "./slots.ts";
import { takeFoundJob, type TakeJobOptions } from "./take-job.ts";

interface DispatcherOptions
  extends
    SlotsOptions,
    RunnableJobs,
    TakeJobOptions,
    Pick<RunningJobsOptions, "awaitedWork" | "abort"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The maximum time between two searches, in milliseconds. A search finds expired leases, and jobs
 * of other processes if the storage sends no notifications.
 */
const pollMs = 5_000;
/**
 * If this engine lacks the remote of a job, other engines have one poll and this much more time to
 * take the job, in milliseconds.
 */
const extraMs = 1_000;
/**
 * The pause before the next search if one search may have left jobs that could run, in
 * milliseconds. It doubles while other engines take all jobs that are found.
 */
const continueMs = 25;
/** The spread of a search (`RingSearch`) if other engines took jobs that the last one has found. */
const rivalSpread = 4;
/** The pause after a failed search, or if no lease was stored, in milliseconds. */
const pauseMs = 1_000;

/**
 * The result of trying to start a due job. `started`: it runs. `full`: its lane has no slot.
 * `taken`: another engine leased it, or it was removed. `left`: the engines that have its remote
 * run it. `failed`: the storage failed.
 */
type Outcome = "started" | "full" | "taken" | "left" | "failed";

/** Finds due jobs lane by lane, leases them and runs them. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queues: ReadonlyMap<Pool, PoolQueue>;
  readonly #slots: Slots;
  readonly #running: RunningJobs;
  readonly #othersRemotes: OthersRemotes;
  readonly #wake: WakeFlag;
  readonly #unsubscribe: () => void;
  readonly #loop: Promise<void>;
  readonly #searchFailures: FailureLog;
  readonly #leaseFailures: FailureLog;
  readonly #stop = new AbortController();
  /**
   * Aborts when `stop` is called. Also at the deadline of an engine's stop that still waits for
   * other work: no job may start from then on.
   */
  readonly #stopping: AbortSignal;
  /** Whether the deadline of a stop came while jobs ran. */
  #hasAborted = false;
  /** Whether the last wait ended without a reason to search. */
  #isPolling = false;
  /** Whether other engines took jobs that the last search has found. */
  #hasRivals = false;
  /** How many searches in a row found only jobs that other engines took first. */
  #overtaken = 0;
  /** The time until which the loop sleeps. A job that is due earlier wakes it. */
  #sleepsUntil = Infinity;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#slots = new Slots(options);
    const queueOf = (pool: Pool): PoolQueue =>
      new PoolQueue(
        new DueJobs(options.store.unscopedReads, pool, options.random),
        pool,
        this.#slots,
      );
    this.#queues = new Map(options.pools.map((pool) => [pool, queueOf(pool)]));
    this.#wake = new WakeFlag(options.clock);
    this.#stopping = AbortSignal.any([this.#stop.signal, options.abort]);
    this.#running = new RunningJobs({
      ...options,
      slots: this.#slots,
      stopping: this.#stopping,
      wake: () => this.wake(),
    });
    this.#othersRemotes = new OthersRemotes({
      reads: options.store.unscopedReads,
      remotes: options.remotes,
      isRunning: (job) => this.#running.has(job),
      leftMs: pollMs + extraMs,
    });
    this.#searchFailures = new FailureLog({
      ...options,
      failureText: "jobs could not be read; retrying",
      recoveryText: "jobs can be read again",
    });
    this.#leaseFailures = new FailureLog({
      ...options,
      failureText: "due jobs could not be leased; retrying",
      recoveryText: "due jobs can be leased again",
    });
    options.abort.addEventListener("abort", () => this.#noteAborted());
    this.#unsubscribe = options.store.onCommit((writes) => this.#onWrites(writes));
    options.store.startWith(
      beginAtOnce({
        ...options,
        takeSlot: (job, lane) => this.#takeSlotAtOnce(job, lane),
        running: this.#running,
      }),
    );
    this.#loop = this.#run();
  }

  /**
   * Searches all lanes again. Call this when another process may have armed jobs, or when a slot
   * was freed.
   */
  wake(): void {
    for (const queue of this.#queues.values()) queue.due.noteChange();
    this.#wake.raise();
  }

  /**
   * Takes no more jobs and waits until the running ones have ended. Returns whether none was
   * aborted: an aborted job may still be leased.
   */
  async stop(): Promise<boolean> {
    this.#stop.abort();
    this.#unsubscribe();
    this.#wake.raise();
    await this.#loop;
    // The last search may have started jobs after the deadline.
    if (this.#options.abort.aborted && !this.#hasAborted) this.#noteAborted();
    await this.#running.ended();
    return !this.#hasAborted;
  }

  #noteAborted(): void {
    const jobs = this.#running.size;
    if (jobs === 0) return;
    this.#hasAborted = true;
    this.#options.logger.warn(
      { jobs },
      "jobs still ran at the deadline of `stop` and were aborted; an engine continues them",
    );
  }

  async #run(): Promise<void> {
    while (!this.#stopping.aborted) {
      this.#wake.lower();
      const wait = await this.#searchOrPoll();
      if (wait === undefined) continue;
      if (this.#stopping.aborted) break;
      this.#sleepsUntil = this.#options.clock.now() + wait;
      const isWoken = await this.#wake.wait(wait);
      this.#isPolling = !isWoken && wait === pollMs;
      this.#sleepsUntil = Infinity;
    }
  }

  /**
   * Returns how long to wait before the next call, in milliseconds. Undefined if jobs were started
   * or left to other engines: the next search follows at once.
   */
  async #searchOrPoll(): Promise<number | undefined> {
    try {
      let wait: number | undefined = this.#isPolling ? await this.#untilFirstDue() : 0;
      if (wait === 0) {
        this.#isPolling = false;
        wait = await this.#search();
      }
      this.#searchFailures.worked();
      return wait;
    } catch (error) {
      this.#searchFailures.failed(error);
      for (const queue of this.#queues.values()) queue.due.noteFailure();
      return pauseMs;
    }
  }

  /** Searches for due jobs and starts them. Returns the same as `#searchOrPoll`. */
  async #search(): Promise<number | undefined> {
    const now = this.#options.clock.now();
    const outcomes = await this.#startDue(now);
    const hasMore = [...this.#queues.values()].some((queue) => queue.due.hasMore);
    this.#hasRivals = outcomes.has("taken");
    const isOvertaken = !outcomes.has("started") && this.#hasRivals && hasMore;
    this.#overtaken = isOvertaken ? this.#overtaken + 1 : 0;
    // Jobs that are left to other engines were found in place of jobs that this engine can run. The
    // next search leaves them out.
    if (outcomes.has("started") || outcomes.has("left")) return undefined;
    return Math.min(
      await this.#untilNextSearch(),
      outcomes.has("failed") ? pauseMs : Infinity,
      // It grows, since a transaction of the host application may hold jobs for long.
      isOvertaken ? continueMs * 2 ** (this.#overtaken - 1) : Infinity,
    );
  }

  /**
   * Returns how long to wait if no job is due, in milliseconds, at most `pollMs`. Returns 0 if one
   * may be due. A poll of an idle engine makes this one read instead of a search.
   */
  async #untilFirstDue(): Promise<number> {
    const { store, pools, clock } = this.#options;
    const first = (await firstDueAt(store.unscopedReads, pools)) ?? Infinity;
    return Math.min(Math.max(first - clock.now(), 0), pollMs);
  }

  /** Leases and starts as many due jobs as there is room for. Returns their outcomes. */
  async #startDue(now: number): Promise<ReadonlySet<Outcome>> {
    const due = await this.#find(now);
    const found = await this.#othersRemotes.leaveOut(due, now);
    // `stop` may have been called during the search.
    if (this.#stopping.aborted) return new Set();
    const [running, startable] = partition(found, (job) => this.#running.has(job));
    for (const job of running) this.#running.noteDueAgain(job);
    const leasing = startable.map((job) => this.#lease(job));
    // The jobs have their slots now, if there is room.
    for (const queue of this.#queues.values()) queue.endSearch();
    const leases = await Promise.allSettled(leasing);
    const failed = leases.filter((each) => each.status === "rejected");
    const [first] = failed;
    const outcomes = new Set<Outcome>(
      leases.map((each) => (each.status === "fulfilled" ? each.value : "failed")),
    );
    if (found.length < due.length) outcomes.add("left");
    if (first !== undefined) this.#leaseFailures.failed(first.reason, { jobs: failed.length });
    else if (outcomes.has("started") || outcomes.has("taken")) this.#leaseFailures.worked();
    return outcomes;
  }

  /**
   * Finds due jobs in the pools that have room. Throws if a search fails, but only when all have
   * ended, so that no two searches of one pool overlap.
   */
  async #find(now: number): Promise<readonly DueJob[]> {
    const open = [...this.#queues].filter(([pool]) => this.#slots.freeInPool(pool) > 0);
    const searches = open.map(([, queue]) =>
      queue.search({
        now,
        waitForOthersMs: (lane) => this.#waitForOthersMs(lane, now),
        spread: this.#hasRivals ? rivalSpread : 1,
      }),
    );
    await Promise.allSettled(searches);
    return (await Promise.all(searches)).flat();
  }

  /** Leases a job and starts it, if there is room for it and it is still due. */
  async #lease(job: DueJob): Promise<Outcome> {
    // The lane had room when the job was found. Other lanes of its group or of the same remote may
    // have used it up: they share limits.
    if (this.#slots.freeInLane(job.lane) <= 0) {
      // Noted now, so that no new job begins before this one while the leases of others commit.
      this.#queueOf(job.lane)?.due.noteMoreIn(job.lane);
      return "full";
    }
    this.#slots.take(job.lane);
    const leasing = await takeFoundJob(job, this.#options);
    switch (leasing.outcome) {
      case "leased":
        this.#running.start(leasing.taken, job.lane);
        return "started";
      case "gone":
        // Needs no wake: another search follows while jobs wait.
        this.#slots.release(job.lane);
        return "taken";
      case "failed":
        this.#queueOf(job.lane)?.due.noteMoreIn(job.lane);
        if (leasing.maybeStored === undefined) this.#slots.release(job.lane);
        else this.#running.startIfStored(leasing.maybeStored, job.lane);
        throw leasing.error;
    }
  }

  /** Takes a slot for a job that begins in the transaction that arms it. Returns whether it did. */
  #takeSlotAtOnce(job: JobRow, lane: Lane): boolean {
    if (this.#stopping.aborted) return false;
    const now = this.#options.clock.now();
    if (this.#waitForOthersMs(lane, now) > 0 || this.#running.has(job)) return false;
    return this.#queueOf(lane)?.takeSlotFor(lane) === true;
  }

  #queueOf(lane: Lane): PoolQueue | undefined {
    return this.#queues.get(poolOf(lane));
  }

  /** Returns how long to wait before the next search, in milliseconds: at most `pollMs`. */
  async #untilNextSearch(): Promise<number> {
    const { clock } = this.#options;
    const waits = [...this.#queues].map(async ([pool, queue]) => {
      // In a full pool or lane, the end of a running job wakes the loop.
      if (this.#slots.freeInPool(pool) <= 0) return pollMs;
      if (!queue.due.hasReadAllLanes) return continueMs;
      const next = (await queue.due.nextDueAt(clock.now())) ?? Infinity;
      return Math.max(next - clock.now(), 0);
    });
    return Math.min(...(await Promise.all(waits)), pollMs);
  }

  /**
   * Returns how long a due job of a lane is left to other engines, in milliseconds: 0 if this
   * engine can run it, Infinity if it must not now.
   */
  #waitForOthersMs(lane: Lane, now: number): number {
    // A newer version of the engine on this storage may have other kinds of jobs.
    if (!(lane.kind in this.#options.handlers) || !this.#options.serves(lane)) return Infinity;
    return this.#othersRemotes.waitMs(lane, now);
  }

  /** Wakes the loop when a written job is due before the loop would wake. */
  #onWrites(writes: readonly Write[]): void {
    const now = this.#options.clock.now();
    // During a search, only jobs that are due within two polls wake the loop. It polls again before
    // later ones are due.
    const wakesBy = Math.min(this.#sleepsUntil, now + 2 * pollMs);
    for (const write of writes) {
      if (write.collection !== jobs) continue;
      if (write.kind !== "insert" && write.kind !== "update") continue;
      // The rows of this collection are jobs.
      const job = write.row as unknown as JobRow;
      const { due_at } = job;
      const queue = this.#queues.get(job.pool);
      // Other engines run the jobs of this pool.
      if (queue === undefined) continue;
      const isDue = due_at <= now;
      if (isDue && !job.leased) queue.add(dueJob(job));
      if (isDue || due_at < wakesBy) this.#wake.raise();
    }
  }
}

function partition<T>(all: readonly T[], matches: (each: T) => boolean): [T[], T[]] {
  return [all.filter(matches), all.filter((each) => !matches(each))];
}
