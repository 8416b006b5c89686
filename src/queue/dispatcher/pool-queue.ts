import { pickByClass } from "../jobs/classes.ts";
import { classOf, groupOf, type Lane, type Pool } from "../jobs/lane.ts";
import { nameOf } from "../jobs/rows.ts";
import type { DueJobs, DueJobsSearch } from "./due-jobs.ts";
import type { DueJob } from "./round-robin.ts";
import type { Slots } from "./slots.ts";

/** The maximum number of armed jobs of a pool that are kept. A search finds the others. */
const maxArmed = 256;

/** The jobs of one pool that wait for slots, as far as this process knows them. */
export class PoolQueue {
  /** Finds the jobs of the pool in the storage. */
  readonly due: DueJobs;
  readonly #pool: Pool;
  readonly #slots: Slots;
  /** Jobs that became due by commits of this process since the last search, by name. */
  readonly #armed = new Map<string, DueJob>();
  /** Jobs of the current search that have no slots yet. */
  #inSearch: readonly DueJob[] = [];

  constructor(due: DueJobs, pool: Pool, slots: Slots) {
    this.due = due;
    this.#pool = pool;
    this.#slots = slots;
  }

  /** Adds a job that became due. */
  add(job: DueJob): void {
    if (this.#armed.size < maxArmed) this.#armed.set(nameOf(job), job);
    else this.due.noteChange();
  }

  /** Finds due jobs that have room. Afterwards, call `endSearch` once they have their slots. */
  async search(
    search: Pick<DueJobsSearch, "now" | "waitForOthersMs" | "spread">,
  ): Promise<readonly DueJob[]> {
    const armed = [...this.#armed.values()];
    this.#inSearch = armed;
    this.#armed.clear();
    this.#inSearch = await this.due.find({
      ...search,
      free: this.#slots.freeInPool(this.#pool),
      freeIn: (lane) => this.#slots.freeInLane(lane),
      freeUnderLimit: (lane) => this.#slots.freeUnderLimit(lane),
      nextPick: (lane) => this.#slots.nextPick(lane),
      armed,
    });
    return this.#inSearch;
  }

  endSearch(): void {
    this.#inSearch = [];
  }

  /**
   * Takes a slot for a new job of a lane, if every waiting job ahead of it also gets a slot.
   * Returns whether it did.
   */
  takeSlotFor(lane: Lane): boolean {
    const free = this.#slots.freeInLane(lane);
    if (free <= 0 || !this.due.hasReadAllLanes || this.#armed.size >= maxArmed) return false;
    // It is not known who waits under a limit that was reached.
    if (this.due.lanesAtLimits.some((each) => this.#slots.freeUnderLimit(each) > 0)) return false;
    const ahead = this.#lanesAhead(lane, free);
    if (ahead === undefined) return false;
    // If others go before it, they are picked next.
    this.#slots.take(lane, { countsPick: ahead.length === 0 });
    if (ahead.every((each) => this.#slots.freeInLane(each) > 0)) return true;
    // This was the last slot that a waiting job of a lower class may use, so it is given back.
    this.#slots.release(lane);
    return false;
  }

  /**
   * Returns the lanes of the waiting jobs that are picked before a new job of `lane`. Undefined if
   * they leave it none of the `free` slots.
   */
  #lanesAhead(lane: Lane, free: number): readonly Lane[] | undefined {
    if (!this.#hasWaiting) return [];
    // An unknown number of other jobs waits in the same lane. All of them go first.
    if (this.due.hasMoreIn(lane)) return undefined;
    // A copy, so that `indexOf` finds the new job and not one that waits in the same lane.
    const own: Lane = { ...lane };
    /** The lane of each waiting job of the group. */
    const inGroup: Lane[] = [];
    let room = free;
    for (const [other, count] of this.#waitingJobs()) {
      // Every waiting job of another group goes first.
      if (groupOf(other) !== groupOf(lane)) room -= count;
      else for (let i = 0; i < Math.min(count, free); i++) inGroup.push(other);
    }
    const byClass = Map.groupBy([...inGroup, own], classOf);
    const picked = pickByClass(byClass, this.#slots.nextPick(lane), room);
    const place = picked.indexOf(own);
    return place < 0 ? undefined : picked.slice(0, place);
  }

  get #hasWaiting(): boolean {
    return this.due.hasMore || this.#inSearch.length > 0 || this.#armed.size > 0;
  }

  /** Returns how many jobs wait in each lane that has a slot for them. */
  #waitingJobs(): ReadonlyMap<Lane, number> {
    // It is not known how many jobs wait in a lane that has more than the search returned.
    const counts = new Map<Lane, number>(this.due.lanesWithMore.map((lane) => [lane, Infinity]));
    for (const { lane } of [...this.#inSearch, ...this.#armed.values()]) {
      counts.set(lane, (counts.get(lane) ?? 0) + 1);
    }
    return new Map([...counts].filter(([lane]) => this.#slots.freeInLane(lane) > 0));
  }
}
