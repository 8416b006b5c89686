import type { Claim, JobKind, JobName } from "../domain/jobs/types.ts";
import { finish, type JobRow, jobs, lease, slow } from "../domain/jobs/rows.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Random } from "../ports/random.ts";
import type { Write } from "../ports/storage.ts";
import type { Store } from "../transactions/store.ts";
import { DueJobs } from "./due.ts";
import { Signal } from "../signal.ts";

/** Does one kind of work. */
export interface JobHandler {
  readonly kind: JobKind;
  /**
   * Does the work and finishes the job, best in its last transaction. A throw is logged, and the job is tried again after a
   * pause.
   */
  run(claim: Claim, turn: Turn): Promise<void>;
}

/** What a handler heeds while it works. */
export interface Turn {
  /** Aborts when the engine stops in haste. */
  readonly abort: AbortSignal;
  /** The engine stops: finish what is begun, begin no more. */
  readonly isStopping: () => boolean;
}

export interface DispatcherOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly handlers: readonly JobHandler[];
  /** Jobs at once. */
  readonly concurrency: number;
  /** Jobs at once in one lane; a quarter in the slow lane beside it. */
  readonly laneConcurrency: number;
}

/** A lease must outlast an attempt's deadline; handlers extend it as they go on. */
export const leaseMs = 60_000;
/** The net under the wake-ups: other processes' work, where the storage can't tell of it, and leases that lapse. */
const pollMs = 5_000;
/** After a failure, doubled with each one more. */
const pauseMs = 1_000;
const longestPauseMs = 300_000;

/** Runs due jobs: finds them lane by lane, leases them, hands them to their handlers. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #handlers: ReadonlyMap<JobKind, JobHandler>;
  readonly #due: DueJobs;
  readonly #running = new Map<string, Promise<void>>();
  readonly #lanes = new Map<string, number>();
  readonly #abort = new AbortController();
  readonly #wake: Signal;
  readonly #unsubscribe: () => void;
  readonly #loop: Promise<void>;
  #stopping = false;
  /** Until when the loop means to sleep: work that is due before it wakes the loop. */
  #sleepsUntil = Infinity;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]));
    this.#due = new DueJobs(options.store.reads);
    this.#wake = new Signal(options.clock);
    this.#unsubscribe = options.store.onCommit((writes) => {
      if (writes.some((write) => this.#isDueBeforeWaking(write))) this.#wake.raise();
    });
    this.#loop = this.#run();
  }

  /** Another process may have armed jobs. */
  wake(): void {
    this.#wake.raise();
  }

  /**
   * Takes no more jobs and waits for those under way, `deadlineMs` at most; then it aborts them, and what they leave is found
   * when their leases lapse.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    this.#wake.raise();
    await this.#loop;
    const done = new AbortController();
    const drained = Promise.all(this.#running.values()).then(() => done.abort());
    await Promise.race([drained, this.#options.clock.sleep(deadlineMs, done.signal)]);
    this.#abort.abort();
    await drained;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#wake.lower();
      let wait = pollMs;
      try {
        const now = this.#options.clock.now();
        const taken = await this.#take(now);
        if (taken > 0) continue;
        wait = await this.#untilNext(now);
      } catch (error) {
        this.#options.logger.warn({ err: error }, "jobs could not be read; trying again");
        wait = pauseMs;
      }
      if (this.#stopping) break;
      this.#sleepsUntil = this.#options.clock.now() + wait;
      await this.#wake.wait(wait);
      this.#sleepsUntil = Infinity;
    }
  }

  /** Leases and starts as many due jobs as there is room for. Answers how many. */
  async #take(now: number): Promise<number> {
    const { store, random, concurrency } = this.#options;
    const free = concurrency - this.#running.size;
    if (free <= 0) return 0;
    const found = await this.#due.find({ now, free, freeIn: (lane) => this.#freeIn(lane) });
    const fresh = found.filter((job) => !this.#running.has(nameOf(job)));
    const fence = (): number => Buffer.from(random.bytes(6)).readUIntBE(0, 6);
    const leases = await Promise.allSettled(fresh.map((job) => store.commit((tx) => lease(tx, job, leaseMs, fence()))));
    const claims = leases.flatMap((each) => (each.status === "fulfilled" && each.value !== undefined ? [each.value] : []));
    for (const claim of claims) this.#start(claim);
    return claims.length;
  }

  /** How long there is nothing to take that was not there at `now`. */
  async #untilNext(now: number): Promise<number> {
    // Without room, what ends makes it, and raises the signal. So it does for what was due and not taken, for its lane was full.
    if (this.#running.size >= this.#options.concurrency) return pollMs;
    const next = await this.#due.next(now);
    return next === undefined ? pollMs : Math.min(Math.max(next - this.#options.clock.now(), 0), pollMs);
  }

  #start(claim: Claim): void {
    const name = nameOf(claim);
    this.#lanes.set(claim.lane, (this.#lanes.get(claim.lane) ?? 0) + 1);
    const run = this.#handle(claim).finally(() => {
      this.#running.delete(name);
      const left = (this.#lanes.get(claim.lane) ?? 1) - 1;
      if (left > 0) this.#lanes.set(claim.lane, left);
      else this.#lanes.delete(claim.lane);
      this.#wake.raise();
    });
    this.#running.set(name, run);
  }

  async #handle(claim: Claim): Promise<void> {
    const { store, clock, logger } = this.#options;
    try {
      const handler = this.#handlers.get(claim.kind);
      if (handler === undefined) throw new Error(`no handler for jobs of kind ${claim.kind}`);
      await handler.run(claim, { abort: this.#abort.signal, isStopping: () => this.#stopping });
    } catch (error) {
      logger.error({ err: error, job: nameOf(claim) }, "a job failed; it is tried again");
      const pause = Math.min(pauseMs * 2 ** claim.failures, longestPauseMs);
      await store
        .commit((tx) => finish(tx, claim, { againAt: clock.now() + pause, failed: true }))
        .catch((unfinished: unknown) => {
          logger.warn({ err: unfinished, job: nameOf(claim) }, "a failed job was left to its lease");
        });
    }
  }

  #freeIn(lane: string): number {
    const { laneConcurrency } = this.#options;
    const cap = lane.endsWith(slow) ? Math.max(1, Math.floor(laneConcurrency / 4)) : laneConcurrency;
    return cap - (this.#lanes.get(lane) ?? 0);
  }

  #isDueBeforeWaking(write: Write): boolean {
    if (write.collection !== jobs || (write.kind !== "insert" && write.kind !== "update")) return false;
    const { due_at } = write.row as Pick<JobRow, "due_at">;
    return due_at <= this.#options.clock.now() || due_at < this.#sleepsUntil;
  }
}

const nameOf = ({ kind, key }: JobName): string => `${kind}:${key}`;
