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
   * Takes a slot for a new job of a lane, if one is left when all waiting jobs that go before it have
   * theirs. Returns whether it did. If a lower class has the turn in the lane's group, one job of
   * that class goes before. The new job leaves it a slot and the turn.
   */
  takeSlotFor(lane: Lane): boolean {
    const { hasReadAllLanes, leftLanes } = this.#due;
    const free = this.#slots.freeInLane(lane);
    if (free <= 0 || !hasReadAllLanes || this.#armed.size >= maxArmed) return false;
    const hasSlot = (each: Lane): boolean => this.#slots.freeInLane(each) > 0;
    const left = leftLanes.filter(hasSlot);
    const jobs = [...this.#inSearch, ...this.#armed.values()];
    const waiting = jobs.map((job) => job.lane).filter(hasSlot);
    const withTurn = this.#laneWithTurn(lane, [...left, ...waiting]);
    const goesBefore = (each: Lane): boolean =>
      groupOf(each) !== groupOf(lane) ||
      (classOf(withTurn) === classOf(lane)
        ? classOf(each) === classOf(lane)
        : !isBelow(each, lane));
    // It is not known how many jobs wait in a lane that the last search left.
    if (left.some(goesBefore)) return false;
    const leavesTurn = isBelow(withTurn, lane);
    if (free <= waiting.filter(goesBefore).length + (leavesTurn ? 1 : 0)) return false;
    this.#slots.take(lane, { usesTurn: !leavesTurn });
    if (!leavesTurn || hasSlot(withTurn)) return true;
    // Lower classes leave some slots free, so this was the last one that theirs could have.
    this.#slots.release(lane);
    return false;
  }

  /** Returns the lane that has the turn among a lane and those of its group in which jobs wait. */
  #laneWithTurn(lane: Lane, waiting: readonly Lane[]): Lane {
    const inGroup = [lane, ...waiting.filter((each) => groupOf(each) === groupOf(lane))];
    const withTurn = classAt(this.#slots.turnOf(lane), inGroup.map(classOf));
    return inGroup.find((each) => classOf(each) === withTurn) ?? lane;
  }
}

/** Whether the class of a lane is lower than that of another. */
function isBelow(lane: Lane, other: Lane): boolean {
  const [own, better] = [classOf(lane), classOf(other)];
  return own !== better && bestOf(own, better) === better;
}
