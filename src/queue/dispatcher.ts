import type { Claim, JobKind, JobName } from "./types.ts";
import { finish, type JobRow, jobs, lease } from "./rows.ts";
import { laneFor, type Road, roadOf, slow, transportOf } from "./rules.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Random } from "../ports/random.ts";
import type { Write } from "../ports/storage.ts";
import type { Store } from "../store/store.ts";
import { type DueJob, DueJobs } from "./due.ts";
import { Signal } from "./signal.ts";
import { Slots, type SlotsOptions } from "./slots.ts";

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
  /** What it waits for is long in coming: from now on it has its place among the slow, and leaves its own to others. */
  readonly lags: () => void;
}

export interface DispatcherOptions extends SlotsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly handlers: readonly JobHandler[];
  /** Those whose jobs are done here. */
  readonly roads: readonly Road[];
  /**
   * The names of what lanes talk to that is set up here: transports, the analyzer. Jobs for others wait a while for an engine that has
   * theirs.
   */
  readonly farSides: ReadonlySet<string>;
  /** Whether the consumer of a lane runs here, where it has one. Jobs of other lanes are left to engines that have theirs. */
  readonly serves: (lane: string) => boolean;
}

/** A lease must outlast an attempt's deadline; handlers extend it as they go on. */
export const leaseMs = 60_000;
/** The net under the wake-ups: other processes' work, where the storage can't tell of it, and leases that lapse. */
const pollMs = 5_000;
/** How much longer than a poll a job is left to the engines that have its transport. */
const leaveMs = 1_000;
/** Before lanes are asked on that one search did not come round to. */
const searchOnMs = 25;
/** Of what became due here since the last search; the rest is searched for. */
const mostArmed = 256;
/** After a failure, doubled with each one more. */
const pauseMs = 1_000;
const longestPauseMs = 300_000;

/** Runs due jobs: finds them lane by lane, leases them, hands them to their handlers. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #handlers: ReadonlyMap<JobKind, JobHandler>;
  readonly #due: ReadonlyMap<Road, DueJobs>;
  readonly #running = new Map<string, Promise<void>>();
  readonly #slots: Slots;
  readonly #abort = new AbortController();
  readonly #wake: Signal;
  readonly #unsubscribe: () => void;
  readonly #loop: Promise<void>;
  /** Running here while they were found due: looked for again when that has ended. */
  readonly #dueAgain = new Set<string>();
  #stopping = false;
  /** Jobs that became due by commits of this process since the last search. */
  #armed: DueJob[] = [];
  /** Until when the loop means to sleep: work that is due before it wakes the loop. */
  #sleepsUntil = Infinity;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]));
    this.#slots = new Slots(options);
    this.#due = new Map(
      options.roads.map((road) => [road, new DueJobs(options.store.unscopedReads, road)]),
    );
    this.#wake = new Signal(options.clock);
    this.#unsubscribe = options.store.onCommit((writes) => {
      for (const write of writes) this.#heed(write);
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
    const found = await this.#find(now);
    const [running, startable] = partition(found, (job) => this.#running.has(nameOf(job)));
    for (const job of running) this.#dueAgain.add(nameOf(job));
    const leases = await Promise.allSettled(startable.map((job) => this.#lease(job)));
    const refused = leases.filter((each) => each.status === "rejected");
    const [first] = refused;
    if (first !== undefined) {
      this.#options.logger.warn(
        { err: first.reason as unknown, jobs: refused.length },
        "due jobs could not be leased",
      );
    }
    return leases.filter((each) => each.status === "fulfilled" && each.value).length;
  }

  /** A road without room is not looked at, whatever waits there. */
  async #find(now: number): Promise<readonly DueJob[]> {
    const armed = this.#armed;
    this.#armed = [];
    const open = [...this.#due].filter(([road]) => this.#slots.freeOn(road) > 0);
    const found = open.map(([road, due]) =>
      due.find({
        now,
        free: this.#slots.freeOn(road),
        freeIn: (lane) => this.#slots.freeIn(lane),
        leaveIn: (lane) => this.#leaveIn(lane),
        armed: armed.filter(({ lane }) => roadOf(lane) === road),
      }),
    );
    return (await Promise.all(found)).flat();
  }

  /** Takes a job and starts it; false when there is no room for it or another dispatcher was faster. */
  async #lease(job: DueJob): Promise<boolean> {
    const { store, random } = this.#options;
    // Each lane had room when it was found; lanes of one transport share theirs.
    if (this.#slots.freeIn(job.lane) <= 0) return false;
    this.#slots.take(job.lane);
    let claim: Claim | undefined;
    try {
      const fence = Buffer.from(random.bytes(6)).readUIntBE(0, 6);
      claim = await store.commitUnscoped((tx) => lease(tx, job, leaseMs, fence), {
        own: true,
        claims: true,
      });
    } finally {
      if (claim === undefined) this.#slots.leave(job.lane);
    }
    if (claim === undefined) return false;
    this.#start(claim, job.lane);
    return true;
  }

  /** How long there is nothing to take that was not there at `now`. */
  async #untilNext(now: number): Promise<number> {
    const waits = [...this.#due].map(async ([road, due]) => {
      // Without room, what ends makes it, and raises the signal. So it does for what was due and not taken, for its lane was full.
      if (this.#slots.freeOn(road) <= 0) return pollMs;
      const next = (await due.next(now)) ?? Infinity;
      const wait = Math.max(next - this.#options.clock.now(), 0);
      return due.isThrough ? wait : Math.min(wait, searchOnMs);
    });
    return Math.min(...(await Promise.all(waits)), pollMs);
  }

  /** Runs a job that holds a slot in `lane`. */
  #start(claim: Claim, lane: string): void {
    const name = nameOf(claim);
    let place = lane;
    const lags = (): void => {
      if (place.endsWith(slow)) return;
      this.#slots.leave(place);
      place = laneFor(place, 1);
      this.#slots.take(place);
      this.#wake.raise();
    };
    const run = this.#handle(claim, lags).finally(() => {
      const wasFull = this.#slots.freeIn(place) <= 0;
      this.#running.delete(name);
      this.#slots.leave(place);
      const isDueAgain = this.#dueAgain.delete(name);
      // Otherwise nobody waits for its end, nor for the room that this makes.
      if (wasFull || isDueAgain) this.#wake.raise();
    });
    this.#running.set(name, run);
  }

  async #handle(claim: Claim, lags: () => void): Promise<void> {
    const { store, clock, logger } = this.#options;
    try {
      const handler = this.#handlers.get(claim.kind);
      if (handler === undefined) throw new Error(`no handler for jobs of kind ${claim.kind}`);
      await handler.run(claim, {
        abort: this.#abort.signal,
        isStopping: () => this.#stopping,
        lags,
      });
    } catch (error) {
      logger.error({ err: error, job: nameOf(claim) }, "a job failed; it is tried again");
      const pause = Math.min(pauseMs * 2 ** claim.failures, longestPauseMs);
      await store
        .commitUnscoped((tx) => finish(tx, claim, { againAt: clock.now() + pause, failed: true }), {
          own: true,
        })
        .catch((unfinished: unknown) => {
          logger.warn(
            { err: unfinished, job: nameOf(claim) },
            "a failed job was left to its lease",
          );
        });
    }
  }

  /** Whoever has the transport finds its job when it is due, or within a poll. Left to nobody else, no message would expire. */
  #leaveIn(lane: string): number {
    if (!this.#options.serves(lane)) return Infinity;
    const transport = transportOf(lane);
    return transport === undefined || this.#options.farSides.has(transport) ? 0 : pollMs + leaveMs;
  }

  /** Of what was just written: a job that is due before the loop means to wake wakes it. */
  #heed(write: Write): void {
    if (write.collection !== jobs || (write.kind !== "insert" && write.kind !== "update")) return;
    const { due_at, leased, kind, key, lane } = write.row as Pick<
      JobRow,
      "due_at" | "leased" | "kind" | "key" | "lane"
    >;
    const isDue = due_at <= this.#options.clock.now();
    if (isDue && !leased && this.#armed.length < mostArmed) this.#armed.push({ kind, key, lane });
    if (isDue || due_at < this.#sleepsUntil) this.#wake.raise();
  }
}

function partition<T>(all: readonly T[], holds: (each: T) => boolean): [T[], T[]] {
  return [all.filter(holds), all.filter((each) => !holds(each))];
}

const nameOf = ({ kind, key }: JobName): string => `${kind}:${key}`;
