import { decodeLane, groupOf, type Lane, type Pool } from "../jobs/lane.ts";
import { type DueJob, dueJob, type Room } from "./round-robin.ts";
import { type JobRow, jobsByLane } from "../jobs/rows.ts";
import type { UnscopedReads } from "../../store/index.ts";

/** The number of rows in a page of the ring. They may belong to many lanes or to one. */
const pageSize = 16;
/**
 * The maximum number of pages that one search reads. The next search continues where this one
 * ended, so a round may take several searches. A lane with many rows takes a page by itself.
 */
const maxPages = 16;
/** A spread does not raise the number of jobs that are read in a lane above this. */
const maxSpread = 256;

/** Which jobs one search reads lane by lane. */
export interface RingSearch extends Pick<Room, "free" | "freeIn"> {
  readonly now: number;
  /** How long due jobs of a lane are left to other engines, in milliseconds. */
  readonly waitForOthersMs: (lane: Lane) => number;
  /**
   * How many times as many jobs of a lane as have room are read. If it is more than 1, the jobs to
   * start are picked at random, so that several engines seldom pick the same.
   */
  readonly spread: number;
}

/** The due jobs that were read lane by lane. */
interface RingJobs {
  readonly found: readonly DueJob[];
  /** The lanes that may have more due jobs than were read. */
  readonly lanesWithMore: readonly Lane[];
  /** Whether each lane was read since the round began. */
  readonly hasReadAllLanes: boolean;
}

/**
 * The lanes of one pool that have jobs, in the order of their names. The first follows the last.
 * Each search goes on where the one before ended, so no lane waits longer than one round.
 */
export class LaneRing {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  /** The lane that was read last, encoded. */
  #lastLane = "";
  /** The last lane of the round, encoded: the one that was read last when the round began. */
  #endOfRound = "";
  /** Whether the round has passed the end of the ring: it goes on with the first lanes. */
  #isPastEnd = false;

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
  }

  /** Begins a round: the next searches read each lane once. It goes on where the last one ended. */
  beginRound(): void {
    this.#endOfRound = this.#lastLane;
    this.#isPastEnd = false;
  }

  /**
   * Reads the due jobs of the next lanes. Stops when the round is over, or when there are enough
   * jobs and a group ends: its jobs are picked by class, so all of its lanes must be known.
   */
  async read({ now, free, freeIn, waitForOthersMs, spread }: RingSearch): Promise<RingJobs> {
    const found: DueJob[] = [];
    const lanesWithMore: Lane[] = [];
    /** How many of the jobs can start. */
    let startable = 0;
    let group = "";
    const lanes = this.#lanes();
    for (;;) {
      const next = await lanes.next();
      if (next.done === true) return { found, lanesWithMore, hasReadAllLanes: next.value };
      const { lane: text, due_at } = next.value;
      const lane = decodeLane(text);
      if (startable >= free && groupOf(lane) !== group) {
        return { found, lanesWithMore, hasReadAllLanes: false };
      }
      this.#lastLane = text;
      group = groupOf(lane);
      const until = now - waitForOthersMs(lane);
      if (due_at > until) continue;
      const room = Math.max(0, Math.min(freeIn(lane), free));
      const limit = Math.max(room, Math.min(room * spread, maxSpread));
      const inLane = room > 0 ? await this.#readLane(text, until, limit) : [];
      found.push(...inLane.map(dueJob));
      startable += Math.min(inLane.length, room);
      if (inLane.length === limit) lanesWithMore.push(lane);
    }
  }

  /**
   * Yields the next lanes of the round, each as its job with the earliest due time: to the end of
   * the ring, then from its beginning. The caller notes each lane that it reads as the last one.
   * Returns whether the round is over.
   */
  async *#lanes(): AsyncGenerator<JobRow, boolean> {
    for (let pages = 0; pages < maxPages; pages++) {
      const end = this.#isPastEnd ? this.#endOfRound : undefined;
      const rows = await this.#readPage(this.#lastLane, end);
      for (const row of rows) {
        // The lane's other rows are skipped.
        if (row.lane !== this.#lastLane) yield row;
      }
      // The last lane of the round may fill the page with its own rows.
      if (rows.length === pageSize && this.#lastLane !== end) continue;
      if (this.#isPastEnd || this.#endOfRound === "") return true;
      this.#isPastEnd = true;
      this.#lastLane = "";
    }
    return false;
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

  /** Reads a page of jobs, due or not, lane by lane: after the lane `after`, through `end`. */
  async #readPage(after: string, end: string | undefined): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [after, Number.MAX_SAFE_INTEGER],
      ...(end === undefined ? {} : { until: [end, Number.MAX_SAFE_INTEGER] }),
      limit: pageSize,
    });
  }
}
