import { getOrInsert } from "../../kernel/index.ts";
import type { UnscopedReads } from "../../store/index.ts";
import {
  decodeLane,
  everyLane,
  groupOf,
  limitOf,
  rangesUnderLimitOf,
  rangeUnderLimitOf,
  type Lane,
  type LaneRange,
  type Pool,
} from "../jobs/lane.ts";
import { jobsByLane, type JobRow } from "../jobs/rows.ts";
import { Ring, type PageBudget } from "./ring.ts";
import { dueJob, type DueJob, type Room } from "./round-robin.ts";

/**
 * The maximum number of pages that one search reads. The next search continues where this one
 * ended, so a round may take several searches. A lane with many rows takes a page by itself.
 */
const maxPages = 16;
/** A spread does not raise the number of jobs that are read in a lane above this. */
const maxSpread = 256;

type LaneRoom = Pick<Room, "free" | "freeIn" | "freeUnderLimit">;

/** Which jobs one search reads lane by lane. */
export interface RingSearch extends LaneRoom {
  readonly now: number;
  /** How long due jobs of a lane are left to other engines, in milliseconds. */
  readonly waitForOthersMs: (lane: Lane) => number;
  /**
   * How many jobs of a lane are read, as a multiple of those that have room. If it is more than 1,
   * the jobs to start are picked at random, so that several engines seldom pick the same.
   */
  readonly spread: number;
}

/** The due jobs that were read lane by lane. */
interface RingJobs {
  readonly found: readonly DueJob[];
  /** The lanes that may have more due jobs than were read. */
  readonly lanesWithMore: readonly Lane[];
  /** One lane for each limit that was reached. The lanes under it that followed were not read. */
  readonly lanesAtLimits: readonly Lane[];
  /** Whether each lane was read since the round began, except those under a reached limit. */
  readonly hasReadAllLanes: boolean;
}

/** A lane, as its job with the earliest due time, and the ring in which it is read. */
interface NextLane {
  readonly row: JobRow;
  readonly ring: Ring;
  /** Where the rounds pass the ring. Undefined for the ring of all lanes. */
  readonly place: LaneRange | undefined;
}

/** What one search has left, and which limits it has reached. */
interface LanesSearch {
  readonly room: RemainingRoom;
  readonly budget: PageBudget;
  readonly lanesAtLimits: Lane[];
}

/**
 * The lanes of one pool that have jobs. Each search goes on where the one before ended, so no lane
 * waits longer than one round.
 *
 * Many lanes may share a limit (`limitOf`). When a search reaches it, it leaves out the others.
 * From then on, the lanes under this limit have a ring of their own, which goes on where it was
 * left. A round that reaches one of its ranges reads the next lanes of this ring and skips the
 * range. So each of its lanes has its turn even if there is little room. While there is none, its
 * lanes cost no reads.
 */
export class LaneRing {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #all: Ring;
  /** The rings of lanes whose limit was reached, by the name of the limit. */
  readonly #limited = new Map<string, Ring>();
  /** Where a lane of one of these was read last. Undefined if one of the ring of all lanes was. */
  #current: LaneRange | undefined;

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
    this.#all = new Ring(reads, pool, [everyLane], everyLane.start);
  }

  /** Begins a round: the next searches read each lane once. It goes on where the last one ended. */
  beginRound(): void {
    // Rounds may begin anew at each search. Then the other lanes have their turn now.
    if (this.#current !== undefined) this.#pass(this.#current);
    this.#all.beginRound();
    for (const ring of this.#limited.values()) ring.beginRound();
  }

  /**
   * Reads the due jobs of the next lanes. Stops when the round is over, or when there are enough
   * jobs and a group ends: its jobs are picked by class, so all of its lanes must be known.
   */
  async read(search: RingSearch): Promise<RingJobs> {
    const { now, waitForOthersMs, spread } = search;
    const room = new RemainingRoom(search);
    const found: DueJob[] = [];
    const lanesWithMore: Lane[] = [];
    const lanesAtLimits: Lane[] = [];
    const budget = { pages: maxPages };
    const lanes = this.#lanes({ room, budget, lanesAtLimits });
    for (;;) {
      const next = await lanes.next();
      if (next.done === true) {
        return { found, lanesWithMore, lanesAtLimits, hasReadAllLanes: next.value };
      }
      const { row, ring, place } = next.value;
      const lane = decodeLane(row.lane);
      if (room.isUsedUpBefore(lane)) {
        return { found, lanesWithMore, lanesAtLimits, hasReadAllLanes: false };
      }
      ring.last = row.lane;
      this.#current = place;
      room.use(lane, 0);
      const until = now - waitForOthersMs(lane);
      if (row.due_at > until) continue;
      const free = room.in(lane);
      const limit = Math.max(free, Math.min(free * spread, maxSpread));
      const inLane = free > 0 ? await this.#readLane(row.lane, until, limit) : [];
      found.push(...inLane.map(dueJob));
      room.use(lane, Math.min(inLane.length, free));
      if (inLane.length === limit) lanesWithMore.push(lane);
    }
  }

  /**
   * Yields the next lanes of the round, except those under a limit that is reached. Adds one of
   * these to `lanesAtLimits`. Returns whether the round is over.
   */
  async *#lanes(search: LanesSearch): AsyncGenerator<NextLane, boolean> {
    const { room, budget } = search;
    const lanes = this.#all.lanes(budget);
    /** The limits whose rings have had their turn in this search. */
    const hadTurn = new Set<string>();
    /** The range that was passed last. More of its lanes may be in the same page. */
    let passed: LaneRange | undefined;
    for (;;) {
      const next = await lanes.next();
      if (next.done === true) return next.value;
      const row = next.value;
      if (passed !== undefined && row.lane.startsWith(passed.start)) continue;
      const lane = decodeLane(row.lane);
      const limit = limitOf(lane);
      const isLimited =
        limit !== undefined &&
        (room.isReached(lane) || this.#limited.has(limit) || hadTurn.has(limit));
      if (!isLimited) {
        yield { row, ring: this.#all, place: undefined };
        continue;
      }
      const place = rangeUnderLimitOf(lane);
      if (!hadTurn.has(limit)) {
        const isPassed = yield* this.#lanesUnder(limit, place, lane, search);
        if (!isPassed) return false;
        hadTurn.add(limit);
      }
      this.#pass(place);
      passed = place;
    }
  }

  /**
   * Yields the next lanes of the ring of a limit, until the limit is reached. `first` is one of its
   * lanes, at `place`. Returns false if the search must end before the round of this ring is over.
   */
  async *#lanesUnder(
    limit: string,
    place: LaneRange,
    first: Lane,
    { room, budget, lanesAtLimits }: LanesSearch,
  ): AsyncGenerator<NextLane, boolean> {
    const ring = getOrInsert(this.#limited, limit, () => {
      const { last } = this.#all;
      const begin = last.startsWith(place.start) ? last : place.start;
      return new Ring(this.#reads, this.#pool, rangesUnderLimitOf(first), begin);
    });
    const lanes = ring.lanes(budget);
    let lane = first;
    while (!room.isReached(lane)) {
      const next = await lanes.next();
      if (next.done === true) {
        // Each lane has had its turn, so the ring need not keep its place.
        if (next.value) this.#limited.delete(limit);
        return next.value;
      }
      lane = decodeLane(next.value.lane);
      if (!room.isReached(lane)) yield { row: next.value, ring, place };
    }
    lanesAtLimits.push(lane);
    return true;
  }

  /** Goes on behind a range of lanes. */
  #pass({ end }: LaneRange): void {
    this.#all.last = end;
    this.#current = undefined;
  }

  /** Reads the due jobs of a lane, those first that have been due for longest. */
  async #readLane(lane: string, until: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool, lane],
      order: "ascending",
      until: [until + 1],
      limit,
    });
  }
}

/** The room that remains beside the jobs that a search has found so far. */
class RemainingRoom {
  readonly #room: LaneRoom;
  #startable = 0;
  /** The group that is read now. Its jobs are picked by class, so they do not limit one another. */
  #group = "";
  #ofGroup = { limit: "", startable: 0 };
  /** The jobs of the groups before it, by the name of their limit. */
  readonly #underLimits = new Map<string, number>();

  constructor(room: LaneRoom) {
    this.#room = room;
  }

  /** Whether there are enough jobs, and the lane belongs to another group than the last one. */
  isUsedUpBefore(lane: Lane): boolean {
    return this.#startable >= this.#room.free && groupOf(lane) !== this.#group;
  }

  /** Whether the limit that a lane shares with others is reached. */
  isReached(lane: Lane): boolean {
    return this.#underLimit(lane) <= 0;
  }

  /** Returns how many jobs of a lane can start. */
  in(lane: Lane): number {
    const { free, freeIn } = this.#room;
    return Math.max(0, Math.min(free, freeIn(lane), this.#underLimit(lane)));
  }

  /** Notes that a lane is read, and that this many of its jobs can start. */
  use(lane: Lane, startable: number): void {
    const group = groupOf(lane);
    if (group !== this.#group) {
      const { limit, startable: before } = this.#ofGroup;
      this.#underLimits.set(limit, (this.#underLimits.get(limit) ?? 0) + before);
      this.#group = group;
      this.#ofGroup = { limit: limitOf(lane) ?? "", startable: 0 };
    }
    this.#ofGroup.startable += startable;
    this.#startable += startable;
  }

  #underLimit(lane: Lane): number {
    const limit = limitOf(lane);
    if (limit === undefined) return Infinity;
    const isOther = this.#ofGroup.limit === limit && groupOf(lane) !== this.#group;
    const used = (this.#underLimits.get(limit) ?? 0) + (isOther ? this.#ofGroup.startable : 0);
    return this.#room.freeUnderLimit(lane) - used;
  }
}
