import { withDeadline } from "../kernel/index.ts";
import {
  type Claim,
  decodeLane,
  type JobHandler,
  type JobHandlers,
  type JobKind,
  type JobRun,
  type Lane,
  type Pool,
  poolOf,
  readyLane,
  remoteOf,
} from "./job.ts";
import { finish, type JobRow, jobs, lease, type StoredJobName, storedName } from "./rows.ts";
import {
  type Clock,
  type Logger,
  type Random,
  StorageConflict,
  type Write,
} from "../ports/index.ts";
import {
  background,
  type Begun,
  isStorageFailure,
  type Store,
  type UnscopedTx,
} from "../store/index.ts";
import { Signal, Slots, type SlotsOptions } from "./concurrency.ts";
import { type DueJob, DueJobs, type Runnable } from "./due-jobs.ts";

interface DispatcherOptions extends SlotsOptions, Runnable {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly handlers: JobHandlers;
}

/**
 * The length of a lease, in milliseconds. It is longer than the deadline of any attempt. Handlers
 * extend their lease as they continue.
 */
export const leaseMs = 60_000;
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
/** The pause before the next search if one search did not read every lane, in milliseconds. */
const continueMs = 25;
/** The maximum number of jobs in `#armed`. A search finds the others. */
const maxArmed = 256;
/**
 * The pause after a failed search, and after the first failure of a job, in milliseconds. The pause
 * of a job doubles with each further failure.
 */
const pauseMs = 1_000;
const maxPauseMs = 300_000;

/** Runs due jobs: finds them lane by lane, leases them and calls their handlers. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #due: ReadonlyMap<Pool, DueJobs>;
  readonly #running = new Map<string, Promise<void>>();
  /** Jobs that began in transactions which are not committed yet. */
  readonly #beginning = new Set<Promise<void>>();
  readonly #slots: Slots;
  readonly #abort = new AbortController();
  readonly #wake: Signal;
  readonly #unsubscribe: () => void;
  readonly #endStarting: () => void;
  readonly #loop: Promise<void>;
  /** Running jobs that were found due again. When they end, the loop searches again. */
  readonly #dueAgain = new Set<string>();
  #stopping = false;
  /** Jobs that became due by commits of this process since the last search. */
  #armed: DueJob[] = [];
  /** Whether the last search may have left due jobs. */
  #hasMore = true;
  /** The time until which the loop sleeps. A job that is due earlier wakes it. */
  #sleepsUntil = Infinity;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#slots = new Slots(options);
    this.#due = new Map(
      options.pools.map((pool) => [pool, new DueJobs(options.store.unscopedReads, pool)]),
    );
    this.#wake = new Signal(options.clock);
    this.#unsubscribe = options.store.onCommit((writes) => this.#onWrites(writes));
    this.#endStarting = options.store.startWith({
      of: jobs,
      begin: (tx, rows) => this.#beginAtOnce(tx, rows as readonly JobRow[]),
    });
    this.#loop = this.#run();
  }

  /** Searches again. Call this when another process may have armed jobs. */
  wake(): void {
    this.#wake.raise();
  }

  /**
   * Takes no more jobs and waits up to `deadlineMs` for the running ones. Then it aborts them and
   * waits until their handlers have ended. Unfinished jobs are due again when their leases expire.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    this.#endStarting();
    this.#wake.raise();
    await this.#loop;
    const ended = Promise.all(this.#beginning)
      .then(() => Promise.all(this.#running.values()))
      .then(() => {});
    await withDeadline(
      this.#options.clock,
      deadlineMs,
      () => ended,
      () => {},
    );
    this.#abort.abort();
    await ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#wake.lower();
      let wait = pollMs;
      try {
        const now = this.#options.clock.now();
        const started = await this.#startDue(now);
        if (started > 0) continue;
        wait = await this.#untilNext(now);
        this.#hasMore = [...this.#due.values()].some((due) => !due.hasReadAllLanes);
      } catch (error) {
        this.#options.logger.warn({ err: error }, "jobs could not be read; retrying");
        wait = pauseMs;
      }
      if (this.#stopping) break;
      this.#sleepsUntil = this.#options.clock.now() + wait;
      await this.#wake.wait(wait);
      this.#sleepsUntil = Infinity;
    }
  }

  /** Leases and starts as many due jobs as there is room for. Returns how many. */
  async #startDue(now: number): Promise<number> {
    const found = await this.#find(now);
    const [running, startable] = partition(found, (job) => this.#running.has(nameOf(job)));
    for (const job of running) this.#dueAgain.add(nameOf(job));
    const leases = await Promise.allSettled(startable.map((job) => this.#lease(job)));
    const failed = leases.filter((each) => each.status === "rejected");
    const [first] = failed;
    if (first !== undefined) {
      this.#options.logger.warn(
        { err: first.reason as unknown, jobs: failed.length },
        "due jobs could not be leased",
      );
    }
    return leases.filter((each) => each.status === "fulfilled" && each.value).length;
  }

  /** Finds due jobs in the pools that have room. */
  async #find(now: number): Promise<readonly DueJob[]> {
    const armed = this.#armed;
    this.#armed = [];
    const open = [...this.#due].filter(([pool]) => this.#slots.freeInPool(pool) > 0);
    const found = open.map(([pool, due]) =>
      due.find({
        now,
        free: this.#slots.freeInPool(pool),
        freeIn: (lane) => this.#slots.freeInLane(lane),
        waitForOthersMs: (lane) => this.#waitForOthersMs(lane),
        armed: armed.filter(({ lane }) => poolOf(lane) === pool),
      }),
    );
    return (await Promise.all(found)).flat();
  }

  /**
   * Leases a job and starts it. Returns false if there is no room for it, or if it is not due any
   * more: another dispatcher was faster, or the job was removed.
   */
  async #lease(job: DueJob): Promise<boolean> {
    const { store } = this.#options;
    // The lane had room when the job was found. Other lanes of the same remote may have used it up:
    // they share one limit.
    if (this.#slots.freeInLane(job.lane) <= 0) return false;
    this.#slots.take(job.lane);
    let taken: TakenJob | undefined;
    try {
      taken = await store.commitUnscoped((tx) => this.#take(tx, job), {
        isBackground: true,
        claims: true,
      });
    } finally {
      if (taken === undefined) this.#slots.release(job.lane);
    }
    if (taken === undefined) return false;
    this.#start(taken, job.lane);
    return true;
  }

  /**
   * Leases a due job, and does its first step in the same transaction if commands run in turn. If
   * they run at the same time, a transaction that leases jobs must not wait for other rows.
   */
  async #take(tx: UnscopedTx, job: StoredJobName): Promise<TakenJob | undefined> {
    const { store, random, handlers } = this.#options;
    const fence = Buffer.from(random.bytes(6)).readUIntBE(0, 6);
    const claim = await lease(tx, job, leaseMs, fence);
    if (claim === undefined) return undefined;
    const begin = store.runsInTurn ? beginOf(handlers, claim) : undefined;
    if (begin === undefined) return { claim };
    try {
      return { claim, rest: await tx.attempt(begin) };
    } catch (error) {
      // The transaction runs again, or fails. Other errors are those of the job.
      if (error instanceof StorageConflict || isStorageFailure(error)) throw error;
      return { claim };
    }
  }

  /**
   * Takes a job in the transaction that arms it, so that nobody needs to search for it. Jobs that
   * wait already come first: while there may be some, the search takes the new ones, too.
   */
  async #beginAtOnce(tx: UnscopedTx, rows: readonly JobRow[]): Promise<Begun | undefined> {
    const { store, handlers } = this.#options;
    const row = rows.find(({ kind }) => handlers[kind].begin !== undefined);
    if (row === undefined || row.due_at > tx.now || !this.#isIdle || !store.runsInTurn) {
      return undefined;
    }
    const lane = decodeLane(row.lane);
    const hasRoom = this.#waitForOthersMs(lane) === 0 && this.#slots.freeInLane(lane) > 0;
    // The handler may still run though its last transaction has removed the job.
    if (!hasRoom || this.#running.has(nameOf(row))) return undefined;
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const end = (): void => {
      this.#beginning.delete(settled);
      settle();
    };
    const cancel = (): void => {
      this.#slots.release(lane);
      end();
    };
    this.#slots.take(lane);
    this.#beginning.add(settled);
    let taken: TakenJob | undefined;
    try {
      taken = await this.#take(tx, row);
    } finally {
      if (taken === undefined) cancel();
    }
    const begun = taken;
    if (begun === undefined) return undefined;
    const go = (): void => {
      this.#start(begun, lane);
      end();
    };
    return { go, cancel };
  }

  /** Whether the last search left no job that could run, and none was armed since. */
  get #isIdle(): boolean {
    return this.#sleepsUntil !== Infinity && !this.#wake.isRaised && !this.#hasMore;
  }

  /** Returns how long to wait before the next search, in milliseconds: at most `pollMs`. */
  async #untilNext(now: number): Promise<number> {
    const waits = [...this.#due].map(async ([pool, due]) => {
      // In a full pool or lane, the end of a running job wakes the loop.
      if (this.#slots.freeInPool(pool) <= 0) return pollMs;
      const next = (await due.next(now)) ?? Infinity;
      const wait = Math.max(next - this.#options.clock.now(), 0);
      return due.hasReadAllLanes ? wait : Math.min(wait, continueMs);
    });
    return Math.min(...(await Promise.all(waits)), pollMs);
  }

  /** Runs a job that holds a slot of `lane`. */
  #start({ claim, rest }: TakenJob, lane: Lane): void {
    const name = nameOf(storedName(claim));
    let slot = lane;
    const moveToSlowLane = (): void => {
      if (slot.slow) return;
      this.#slots.release(slot);
      slot = readyLane(slot, { slow: true });
      this.#slots.take(slot);
      this.#wake.raise();
    };
    const running = this.#handle({ claim, rest }, moveToSlowLane).finally(() => {
      const wasFull = this.#slots.freeInLane(slot) <= 0;
      this.#running.delete(name);
      this.#slots.release(slot);
      const isDueAgain = this.#dueAgain.delete(name);
      // Another job can wait for this one only if the lane was full or this job is due again.
      if (wasFull || isDueAgain) this.#wake.raise();
    });
    this.#running.set(name, running);
  }

  /** Calls the job's handler. If it throws, schedules the job again after a pause. */
  async #handle({ claim, rest }: TakenJob, moveToSlowLane: () => void): Promise<void> {
    const { store, clock, logger, handlers } = this.#options;
    const isStopping = (): boolean => this.#stopping;
    try {
      const jobRun = { abort: this.#abort.signal, isStopping, moveToSlowLane };
      await (rest === undefined ? run(handlers, claim, jobRun) : rest(jobRun));
    } catch (error) {
      const job = nameOf(storedName(claim));
      logger.error({ err: error, job }, "a job failed; retrying");
      const pause = Math.min(pauseMs * 2 ** claim.failures, maxPauseMs);
      const again = { againAt: clock.now() + pause, failed: true };
      await store
        .commitUnscoped((tx) => finish(tx, claim, again), background)
        .catch((unfinished: unknown) => {
          logger.warn(
            { err: unfinished, job },
            "a failed job could not be rescheduled; it runs again when its lease expires",
          );
        });
    }
  }

  /**
   * Returns how long a due job of a lane is left to other engines, in milliseconds: 0 if this
   * engine can run it, Infinity if it never may. An engine that has the job's remote takes the job
   * within one poll. If no engine has the remote, this one takes the job later, so that the job's
   * messages expire.
   */
  #waitForOthersMs(lane: Lane): number {
    // A newer version of the engine on this storage may have other kinds of jobs.
    if (!(lane.kind in this.#options.handlers) || !this.#options.serves(lane)) return Infinity;
    const remote = remoteOf(lane);
    return remote === undefined || this.#options.remotes.has(remote) ? 0 : pollMs + extraMs;
  }

  /** Wakes the loop when a written job is due before the loop would wake. */
  #onWrites(writes: readonly Write[]): void {
    const now = this.#options.clock.now();
    for (const write of writes) {
      if (write.collection !== jobs) continue;
      if (write.kind !== "insert" && write.kind !== "update") continue;
      const { due_at, leased, kind, key, lane } = write.row as Pick<
        JobRow,
        "due_at" | "leased" | "kind" | "key" | "lane"
      >;
      const isDue = due_at <= now;
      if (isDue && !leased && this.#armed.length < maxArmed) {
        this.#armed.push({ kind, key, lane: decodeLane(lane) });
      }
      if (isDue || due_at < this.#sleepsUntil) this.#wake.raise();
    }
  }
}

/** A job that this dispatcher has leased. */
interface TakenJob {
  readonly claim: Claim;
  /** The rest of the job, if its first step was done when it was leased. */
  readonly rest?: ((run: JobRun) => Promise<void>) | undefined;
}

/** Returns the first step of a job if it can share the transaction that leases the job. */
function beginOf<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
): ((tx: UnscopedTx) => Promise<(run: JobRun) => Promise<void>>) | undefined {
  const { begin }: JobHandler<K> = handlers[claim.kind];
  const { account_id, mode } = claim;
  if (begin === undefined || account_id === null || mode === null) return undefined;
  return (tx) => begin(tx.in({ account_id, mode }), claim);
}

function run<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
  jobRun: JobRun,
): Promise<void> {
  const handler: JobHandler<K> = handlers[claim.kind];
  return handler(claim, jobRun);
}

function partition<T>(all: readonly T[], matches: (each: T) => boolean): [T[], T[]] {
  return [all.filter(matches), all.filter((each) => !matches(each))];
}

const nameOf = ({ kind, key }: StoredJobName): string => `${kind}:${key}`;
