import { getOrInsert } from "../../kernel/index.ts";
import type { UnscopedReads } from "../../store/index.ts";
import { decodeLane, groupOf, limitOf, remoteOf, type Lane, type Pool } from "../jobs/lane.ts";
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

/** Which jobs one search reads lane by lane. */
export interface RingSearch extends Room {
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
  /**
   * Whether each lane was read since the round began, except those under a reached limit and those
   * of a remote that are left to other engines.
   */
  readonly hasReadAllLanes: boolean;
}

/**
 * The lanes of one pool that have jobs. Each search goes on where the one before ended, so no lane
 * waits longer than one round.
 *
 * Many lanes may share a limit (`limitOf`). When a search reaches the limit, it passes the rest of
 * these lanes. From then on they have a ring of their own, which keeps its place. When a round
 * comes to these lanes, it reads the next ones of their ring. So each of them is read in time, even
 * if there is little room. While there is no room, a round reads only one page of them.
 */
export class LaneRing {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #all: Ring;
  /** The rings of lanes whose limit was reached, by the limit. */
  readonly #limited = new Map<string, Ring>();
  /** The ring of a limit, while it is read. The place of `#all` is then before or behind it. */
  #inside: Ring | undefined;

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
    // Names of lanes begin with lower-case letters, which precede "~" in ASCII.
    this.#all = new Ring(reads, pool, { start: "", end: "~" });
  }

  /** Begins a round: the next searches read each lane once. It goes on where the last one ended. */
  beginRound(): void {
    // A round may begin at each search. If it went on among the lanes under a limit, those behind
    // them would wait until all of these were read.
    this.#inside = undefined;
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
    for await (const row of this.#lanes(search, room, lanesAtLimits)) {
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
   * is over, the room is used up or enough pages were read. Passes the lanes under a limit that is
   * reached, and adds one of these to `lanesAtLimits`. Also passes the lanes of a remote that are
   * left to other engines.
   */
  async *#lanes(
    { waitForOthersMs }: RingSearch,
    room: RemainingRoom,
    lanesAtLimits: Lane[],
  ): AsyncGenerator<JobRow> {
    for (let page = 0; page < maxPages && !this.#all.isRoundOver; page++) {
      const ring = this.#inside ?? this.#all;
      const rows = await ring.readPage();
      for (const row of rows) {
        // The page has more rows of the lane that was read last.
        if (row.lane === ring.last) continue;
        const lane = decodeLane(row.lane);
        const limit = limitOf(lane) ?? "";
        const isLeftToOthers = remoteOf(lane) !== undefined && waitForOthersMs(lane) === Infinity;
        if (isLeftToOthers || room.isReached(lane)) {
          if (!isLeftToOthers) lanesAtLimits.push(lane);
          this.#pass(getOrInsert(this.#limited, limit, () => this.#ringUnder(limit)));
          break;
        }
        if (room.isUsedUpBefore(lane)) return;
        if (ring === this.#all && this.#limited.has(limit)) {
          this.#inside = this.#limited.get(limit);
          break;
        }
        ring.last = row.lane;
        if (ring !== this.#all) this.#all.last = ring.range.end;
        yield row;
      }
      ring.endPage(rows);
      if (ring === this.#inside && ring.isRoundOver) {
        this.#pass(ring);
        // All of its lanes were read, so it has no place to keep.
        this.#limited.delete(ring.range.start);
      }
    }
  }

  /** Continues behind the lanes under a limit. */
  #pass({ range }: Ring): void {
    this.#inside = undefined;
    this.#all.last = range.end;
  }

  /** Returns a ring of the lanes under a limit. It goes on where the ring of all lanes stands. */
  #ringUnder(limit: string): Ring {
    const { last } = this.#all;
    // In ASCII, "0" follows "/".
    const range = { start: limit, end: `${limit.slice(0, -1)}0` };
    return new Ring(this.#reads, this.#pool, range, last.startsWith(limit) ? last : limit);
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
  readonly #room: Room;
  #startable = 0;
  /** The group that is read now. Its jobs are picked by class, so they do not limit one another. */
  #group = "";
  #startableInGroup = 0;
  /** The jobs of all groups, by the name of their limit. */
  readonly #underLimits = new Map<string, number>();

  constructor(room: Room) {
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

/** Lanes that follow one another in the index: those whose encoded names are between these. */
interface LaneRange {
  readonly start: string;
  readonly end: string;
}

/** The lanes of a range that have jobs, in the order of their names. The first follows the last. */
class Ring {
  readonly range: LaneRange;
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  /** The lane after which the ring is read next, encoded. The caller sets it. */
  last: string;
  /** The last lane of the round, encoded: the one that was read last when the round began. */
  #endOfRound: string;
  /** Whether each lane has been read in this round. */
  isRoundOver = false;
  /** Whether the round has passed the end of the ring: it goes on with the first lanes. */
  #isPastEnd = false;

  constructor(reads: UnscopedReads, pool: Pool, range: LaneRange, last = range.start) {
    this.#reads = reads;
    this.#pool = pool;
    this.range = range;
    this.last = this.#endOfRound = last;
  }

  /** Begins a round: the next reads return each lane once. It goes on where the last one ended. */
  beginRound(): void {
    this.#endOfRound = this.last;
    this.#isPastEnd = false;
    this.isRoundOver = false;
  }

  /**
   * Reads the next page of the round: jobs, due or not, lane by lane. A round goes to the end of
   * the ring and then on from its beginning. Call `endPage` when the lanes of the page were read.
   */
  async readPage(): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [this.last, Number.MAX_SAFE_INTEGER],
      until: this.#isPastEnd ? [this.#endOfRound, Number.MAX_SAFE_INTEGER] : [this.range.end],
      limit: pageSize,
    });
  }

  /** Notes that the lanes of a page were read, up to `last`. */
  endPage(rows: readonly JobRow[]): void {
    // If not, the caller left the page before its end.
    const isRead = rows.length === 0 || rows.at(-1)?.lane === this.last;
    // The last lane of the round may fill the page with its own rows.
    const isAtEnd = this.#isPastEnd && this.last === this.#endOfRound;
    if (!isAtEnd && (rows.length === pageSize || !isRead)) return;
    const { start } = this.range;
    // The round may have begun with the first lane.
    this.isRoundOver = this.#isPastEnd || this.#endOfRound === start;
    if (!this.#isPastEnd) this.last = start;
    this.#isPastEnd = true;
  }
}
