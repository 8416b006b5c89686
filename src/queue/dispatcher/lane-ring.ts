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
import { dueJob, type DueJob, type Room } from "./round-robin.ts";

/**
 * The maximum number of pages that one search reads. The next search continues where this one
 * ended, so a round may take several searches. A lane with many rows takes a page by itself.
 */
const maxPages = 16;
/** The number of rows in a page of a ring. They may belong to many lanes or to one. */
const pageSize = 16;
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

/** What one search has left, and which limits it has reached. */
interface LanesSearch {
  readonly room: RemainingRoom;
  readonly budget: PageBudget;
  readonly lanesAtLimits: Lane[];
}

/** How many more pages one search may read. */
interface PageBudget {
  pages: number;
}

/**
 * The lanes of one pool that have jobs. Each search goes on where the one before ended, so no lane
 * waits longer than one round.
 *
 * Many lanes may share a limit (`limitOf`). When a search reaches it, it leaves out the others.
 * From then on, the lanes under this limit have a ring of their own, which goes on where it was
 * left. A round that reaches one of its ranges reads the next lanes of this ring and skips the
 * range. So each of its lanes is read in time, even if there is little room. While there is none,
 * its lanes cost no reads.
 */
export class LaneRing {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #all: Ring;
  /** The rings of lanes whose limit was reached, by the name of the limit. */
  readonly #limited = new Map<string, Ring>();
  /**
   * The range at which the ring of all lanes stands while the lanes of a limit's ring are read in
   * its place. Undefined if the lane read last is one of the ring of all lanes.
   */
  #current: LaneRange | undefined;

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
    this.#all = new Ring(reads, pool, [everyLane], everyLane.start);
  }

  /** Begins a round: the next searches read each lane once. It goes on where the last one ended. */
  beginRound(): void {
    // A round may begin at each search, before the last one is over. The lanes behind the range
    // must be read, too.
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
    const lanes = this.#lanes({ room, budget: { pages: maxPages }, lanesAtLimits });
    for await (const row of lanes) {
      const lane = decodeLane(row.lane);
      // Enters the group of the lane, even if none of its jobs is due.
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
    return { found, lanesWithMore, lanesAtLimits, hasReadAllLanes: this.#all.isRoundOver };
  }

  /**
   * Yields the next lanes of the round, each as its job with the earliest due time, until the round
   * is over, the room is used up or enough pages were read. Leaves out the lanes under a limit that
   * is reached, and adds one of these to `lanesAtLimits`.
   */
  async *#lanes(search: LanesSearch): AsyncGenerator<JobRow> {
    const { room, budget } = search;
    /** The limits whose lanes this search has read, as far as there was room. */
    const doneLimits = new Set<string>();
    /** The range that was passed last. More of its lanes may be in the same page. */
    let passed: LaneRange | undefined;
    for await (const row of this.#all.lanes(budget)) {
      if (passed !== undefined && row.lane.startsWith(passed.start)) continue;
      const lane = decodeLane(row.lane);
      const limit = limitOf(lane);
      const isLimited =
        limit !== undefined &&
        (room.isReached(lane) || this.#limited.has(limit) || doneLimits.has(limit));
      if (!isLimited) {
        if (room.isUsedUpBefore(lane)) return;
        this.#all.last = row.lane;
        this.#current = undefined;
        yield row;
        continue;
      }
      const place = rangeUnderLimitOf(lane);
      if (!doneLimits.has(limit)) {
        const mayGoOn = yield* this.#lanesUnder(limit, place, lane, search);
        if (!mayGoOn) return;
        doneLimits.add(limit);
      }
      this.#pass(place);
      passed = place;
    }
  }

  /**
   * Yields the next lanes of the ring of a limit, until the limit is reached or the round of this
   * ring is over. `first` is one of its lanes, in the range `place`. Returns whether the search may
   * go on behind that range: not if the room or the pages were used up before.
   */
  async *#lanesUnder(
    limit: string,
    place: LaneRange,
    first: Lane,
    { room, budget, lanesAtLimits }: LanesSearch,
  ): AsyncGenerator<JobRow, boolean> {
    const ring = getOrInsert(this.#limited, limit, () => {
      const { last } = this.#all;
      const begin = last.startsWith(place.start) ? last : place.start;
      return new Ring(this.#reads, this.#pool, rangesUnderLimitOf(first), begin);
    });
    if (room.isReached(first)) {
      lanesAtLimits.push(first);
      return true;
    }
    for await (const row of ring.lanes(budget)) {
      const lane = decodeLane(row.lane);
      if (room.isReached(lane)) {
        lanesAtLimits.push(lane);
        return true;
      }
      if (room.isUsedUpBefore(lane)) return false;
      ring.last = row.lane;
      this.#current = place;
      yield row;
    }
    // Each lane was read, so the ring need not keep its place.
    if (ring.isRoundOver) this.#limited.delete(limit);
    return ring.isRoundOver;
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
  #startableInGroup = 0;
  /** The jobs of all groups, by the name of their limit. */
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
    const [group, limit] = [groupOf(lane), limitOf(lane) ?? ""];
    if (group !== this.#group) this.#startableInGroup = 0;
    this.#group = group;
    this.#startableInGroup += startable;
    this.#startable += startable;
    this.#underLimits.set(limit, (this.#underLimits.get(limit) ?? 0) + startable);
  }

  #underLimit(lane: Lane): number {
    const used = this.#underLimits.get(limitOf(lane) ?? "") ?? 0;
    const byOwnGroup = groupOf(lane) === this.#group ? this.#startableInGroup : 0;
    return this.#room.freeUnderLimit(lane) - (used - byOwnGroup);
  }
}

/**
 * The lanes of some ranges that have jobs, in the order of their names. The first follows the last.
 */
class Ring {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #ranges: readonly LaneRange[];
  readonly #firstRange: LaneRange;
  /** The lane after which the ring is read next, encoded. The caller sets it. */
  last: string;
  /** The last lane of the round, encoded: the one that was read last when the round began. */
  #endOfRound: string;
  /** Whether each lane has been read in this round. */
  isRoundOver = false;
  /** Whether the round has passed the end of the ring: it goes on with the first lanes. */
  #isPastEnd = false;

  /** The ranges are in the order of their lanes. `last` is in one of them, or the start of one. */
  constructor(reads: UnscopedReads, pool: Pool, ranges: readonly LaneRange[], last: string) {
    this.#reads = reads;
    this.#pool = pool;
    this.#ranges = ranges;
    [this.#firstRange = everyLane] = ranges;
    this.last = this.#endOfRound = last;
  }

  /** Begins a round: the next reads return each lane once. It goes on where the last one ended. */
  beginRound(): void {
    this.#endOfRound = this.last;
    this.#isPastEnd = false;
    this.isRoundOver = false;
  }

  /**
   * Yields the next lanes of the round, each as its job with the earliest due time: to the end of
   * the ring, then from its beginning. The caller notes each lane that it reads as the last one.
   */
  async *lanes(budget: PageBudget): AsyncGenerator<JobRow> {
    while (!this.isRoundOver && budget.pages > 0) {
      budget.pages--;
      const range = this.#rangeOf(this.last);
      const isLastRange = this.#isPastEnd && range === this.#rangeOf(this.#endOfRound);
      const rows = await this.#readPage(
        isLastRange ? [this.#endOfRound, Number.MAX_SAFE_INTEGER] : [range.end],
      );
      for (const row of rows) {
        // The lane's other rows are skipped.
        if (row.lane !== this.last) yield row;
      }
      // The last lane of the round may fill the page with its own rows.
      const isAtEnd = isLastRange && this.last === this.#endOfRound;
      if (rows.length === pageSize && !isAtEnd) continue;
      if (!isLastRange) this.#goToNextRange(range);
      // The round may have begun with the first lane.
      const isBack = this.#isPastEnd && this.last === this.#endOfRound;
      this.isRoundOver = isLastRange || isBack;
    }
  }

  #goToNextRange(range: LaneRange): void {
    const next = this.#ranges[this.#ranges.indexOf(range) + 1];
    if (next === undefined) this.#isPastEnd = true;
    this.last = (next ?? this.#firstRange).start;
  }

  /** Returns the range that a lane of the ring is in. */
  #rangeOf(lane: string): LaneRange {
    return this.#ranges.find(({ start }) => lane.startsWith(start)) ?? this.#firstRange;
  }

  /** Reads a page of jobs, due or not, lane by lane. */
  async #readPage(until: readonly (string | number)[]): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [this.last, Number.MAX_SAFE_INTEGER],
      until,
      limit: pageSize,
    });
  }
}
