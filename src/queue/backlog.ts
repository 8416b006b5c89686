import { bestOf, classAt } from "./classes.ts";
import type { Slots } from "./concurrency.ts";
import type { DueJob, DueJobs } from "./due-jobs.ts";
import { classOf, groupOf, type Lane, type Pool } from "./job.ts";

/** The maximum number of armed jobs of a pool. A search finds the others. */
const maxArmed = 256;

/** The jobs of one pool that wait for slots, as far as this process knows them. */
export class Backlog {
  readonly #due: DueJobs;
  readonly #pool: Pool;
  readonly #slots: Slots;
  /** Jobs that became due by commits of this process since the last search, by name. */
  readonly #armed = new Map<string, DueJob>();
  /** Jobs that the present search has taken or found, and that have no slots yet. */
  #inSearch: readonly DueJob[] = [];

  /** `due` finds the jobs of `pool`. */
  constructor(due: DueJobs, pool: Pool, slots: Slots) {
    this.#due = due;
    this.#pool = pool;
    this.#slots = slots;
  }

  /** False if the last search did not read every lane. Another search may then find more jobs. */
  get hasReadAllLanes(): boolean {
    return this.#due.hasReadAllLanes;
  }

  /** Whether the last search left due jobs, or found some that could not start. */
  get hasLeft(): boolean {
    return this.#due.leftLanes.length > 0;
  }

  /** Adds a job that became due. */
  add(job: DueJob): void {
    if (this.#armed.size < maxArmed) this.#armed.set(`${job.kind} ${job.key}`, job);
  }

  /** Finds due jobs that have room. Afterwards, call `endSearch` once they have their slots. */
  async search(now: number, waitForOthersMs: (lane: Lane) => number): Promise<readonly DueJob[]> {
    const armed = [...this.#armed.values()];
    this.#inSearch = armed;
    this.#armed.clear();
    this.#inSearch = await this.#due.find({
      now,
      free: this.#slots.freeInPool(this.#pool),
      freeIn: (lane) => this.#slots.freeInLane(lane),
      turnOf: (lane) => this.#slots.turnOf(lane),
      waitForOthersMs,
      armed,
    });
    return this.#inSearch;
  }

  endSearch(): void {
    this.#inSearch = [];
  }

  /** Notes that it is unknown which jobs wait, because the storage failed. */
  forget(): void {
    this.#due.forget();
  }

  /** Notes that a job which was found could not start. */
  leave(lane: Lane): void {
    this.#due.leave(lane);
  }

  /** Returns when the first job after `now` is due, or undefined if there is none. */
  next(now: number): Promise<number | undefined> {
    return this.#due.next(now);
  }

  /**
   * Takes a slot for a new job of a lane, if there is one beside the waiting jobs that go before it.
   * Returns whether it did.
   */
  takeSlotFor(lane: Lane): boolean {
    const { hasReadAllLanes, leftLanes } = this.#due;
    if (!hasReadAllLanes || this.#armed.size >= maxArmed) return false;
    let withTurn: Lane | undefined;
    for (const left of leftLanes) {
      const goBefore = this.#goBefore(left, lane);
      // It is not known how many jobs wait in a lane that the last search left.
      if (goBefore === "all") return false;
      if (goBefore === "one") withTurn = left;
    }
    let free = this.#slots.freeInLane(lane);
    for (const waiting of [...this.#inSearch, ...this.#armed.values()]) {
      if (free <= 0) return false;
      const goBefore = this.#goBefore(waiting.lane, lane);
      if (goBefore === "all") free--;
      if (goBefore === "one") withTurn = waiting.lane;
    }
    if (free <= 0) return false;
    this.#slots.take(lane, { passesTurn: withTurn === undefined });
    if (withTurn === undefined || this.#slots.freeInLane(withTurn) > 0) return true;
    // The job that has the turn needs the slot.
    this.#slots.release(lane);
    return false;
  }

  /**
   * Which jobs that wait in a lane take a slot before a new job of another. In one group, the class
   * that has the turn goes first. If it is the lower one, it has only this turn.
   */
  #goBefore(waiting: Lane, lane: Lane): "all" | "one" | "none" {
    if (this.#slots.freeInLane(waiting) <= 0) return "none";
    if (groupOf(waiting) !== groupOf(lane)) return "all";
    const theirs = classOf(waiting);
    const own = classOf(lane);
    if (classAt(this.#slots.turnOf(lane), [theirs, own]) !== theirs) return "none";
    return bestOf(theirs, own) === theirs ? "all" : "one";
  }
}
