import { LogLimit } from "../../kernel/index.ts";
import type { Clock, Logger } from "../../ports/index.ts";
import {
  background,
  isContended,
  isStorageFailure,
  type Store,
  type UnscopedTx,
} from "../../store/index.ts";
import type { Claim, JobHandlers, JobRun } from "../jobs/job.ts";
import type { Lane } from "../jobs/lane.ts";
import { finish, pauseAfter, type Finish } from "../jobs/lease.ts";
import { nameOf, storedName, type StoredJobName } from "../jobs/rows.ts";
import { checkUnansweredCommit, keepOrUndo, mayPass, retry } from "../retry.ts";
import { Slot, type Slots } from "./slots.ts";
import { runJob, type TakenJob } from "./take-job.ts";

export interface RunningJobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly handlers: JobHandlers;
  readonly slots: Slots;
  /** Runs a job as work that a stop waits for, so that functions in it may call the engine. */
  readonly awaitedWork: { run<T>(work: () => Promise<T>): Promise<T> };
  /** Aborts the jobs, at the deadline of a stop. */
  readonly abort: AbortSignal;
  /** Aborts when the engine begins to stop, at the latest with `abort`. */
  readonly stopping: AbortSignal;
  /** Called when another job may start. */
  readonly wake: () => void;
}

/**
 * The pause of a job whose commit failed, in milliseconds. It does not grow: jobs may be leased and
 * fail for hours, for example because the storage can open no more connections, or because another
 * transaction has locked their rows. When that ends, they must not wait for long.
 */
const outagePauseMs = 2_000;

/** The jobs that this engine has leased. Each holds a slot of its lane, which the caller takes. */
export class RunningJobs {
  readonly #options: RunningJobsOptions;
  readonly #running = new Map<string, Promise<void>>();
  /** How many jobs run if their leases are stored, which is not known yet. */
  #announced = 0;
  #onAllSettled: (() => void) | undefined;
  /** Running jobs that were found due again. */
  readonly #dueAgain = new Set<string>();
  /** Counts failed commits. In an outage every job can fail, so they are logged once a minute. */
  readonly #outages: LogLimit;

  constructor(options: RunningJobsOptions) {
    this.#options = options;
    this.#outages = new LogLimit(options.clock);
  }

  /** The number of jobs that run, or that run if their leases are stored. */
  get size(): number {
    return this.#running.size + this.#announced;
  }

  /** Whether a job runs. Its handler may still run though its last transaction removed the job. */
  has(job: StoredJobName): boolean {
    return this.#running.has(nameOf(job));
  }

  /** Notes that a running job was found due again: another one may start when it ends. */
  noteDueAgain(job: StoredJobName): void {
    this.#dueAgain.add(nameOf(job));
  }

  /** Counts a job that runs if its lease is stored. Call `settle` when that is known. */
  announce(): void {
    this.#announced++;
  }

  settle(): void {
    this.#announced--;
    if (this.#announced === 0) this.#onAllSettled?.();
  }

  /** Runs a job that holds a slot of `lane`. */
  start(job: TakenJob, lane: Lane): void {
    const { slots, wake } = this.#options;
    const name = nameOf(storedName(job.claim));
    const slot = new Slot(slots, lane, wake);
    const run = this.#handle(job, slot).finally(() => slot.end());
    // An earlier run of the job may not have ended: its last transaction removed the job, and
    // another command armed it again.
    const running: Promise<void> = Promise.all([this.#running.get(name), run]).then(() => {
      if (this.#running.get(name) !== running) return;
      this.#running.delete(name);
      if (this.#dueAgain.delete(name)) wake();
    });
    this.#running.set(name, running);
  }

  /**
   * Starts a job if its lease is stored, after the storage failed in the commit of the lease. The
   * job keeps its slot meanwhile. It starts even after `abort`, to undo its first step: only this
   * process knows that the carrier was not called.
   */
  startIfStored(job: TakenJob, lane: Lane): void {
    this.announce();
    void this.#isStillLeased(job).then((isLeased) => {
      if (isLeased) this.start(job, lane);
      else this.releaseSlot(lane);
      this.settle();
    });
  }

  /** Frees the slot of a job that does not run, for another job if one waits for it. */
  releaseSlot(lane: Lane): void {
    if (this.#options.slots.release(lane)) this.#options.wake();
  }

  /** Resolves when all jobs have ended. No more may start meanwhile. */
  async ended(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onAllSettled = resolve;
    if (this.#announced > 0) await promise;
    await Promise.all(this.#running.values());
  }

  /** Calls the job's handler. If it throws, schedules the job again after a pause. */
  async #handle(job: TakenJob, slot: Slot): Promise<void> {
    const { handlers, awaitedWork, abort, stopping } = this.#options;
    const run: JobRun = {
      abort,
      stopping,
      moveToSlowLane: () => slot.moveToSlowLane(),
      freeSlot: () => slot.freeEarly(),
    };
    try {
      await awaitedWork.run(() => runJob(handlers, job, run));
    } catch (error) {
      await this.#reschedule(job.claim, error);
    }
  }

  /**
   * Schedules a failed job again after a pause. A job that ended because of `abort` has not failed,
   * and is due again at once. Never rejects.
   */
  async #reschedule(claim: Claim, error: unknown): Promise<void> {
    const { store, clock, logger, abort, stopping } = this.#options;
    const job = nameOf(storedName(claim));
    const failed = !abort.aborted || error !== abort.reason;
    const isOutage = isStorageFailure(error) || isContended(error);
    const noted = isOutage ? this.#outages.note() : { count: 1 };
    if (failed && noted !== undefined) {
      logger.error({ err: error, job, failures: noted.count }, "a job failed; retrying");
    }
    const again = failed ? afterFailure(error, claim, clock.now()) : { againAt: clock.now() };
    try {
      // Most failures of the storage are short. Without a retry, the job would wait until its lease
      // ends.
      await retry(clock, { abort: stopping, stopping }, () =>
        store.commitUnscoped((tx) => finish(tx, claim, again), background),
      );
    } catch (unfinished) {
      if (noted === undefined) return;
      logger.warn(
        { err: unfinished, job },
        "a failed job could not be rescheduled; it runs again when its lease expires",
      );
    }
  }

  /**
   * Whether a job is still leased, although the storage failed in the commit of the lease: the
   * answer to the commit may have been lost. No other engine runs the job before the lease expires.
   * Undoes the first step, which is stored with the lease, if the lease has been lost since. Never
   * rejects.
   */
  async #isStillLeased({ claim, rest }: TakenJob): Promise<boolean> {
    const { store, clock } = this.#options;
    const undo = async (tx: UnscopedTx): Promise<void> => rest?.undo(tx);
    try {
      return await checkUnansweredCommit(clock, this.#options, () =>
        store.commitUnscoped((tx) => keepOrUndo(tx, claim, undo), background),
      );
    } catch {
      return false;
    }
  }
}

/** An error of the storage that may pass is no failure of the job. */
function afterFailure(error: unknown, { failures }: Claim, now: number): Finish {
  return mayPass(error)
    ? { againAt: now + outagePauseMs, failure: "storage" }
    : { againAt: now + pauseAfter(failures), failure: "job" };
}
