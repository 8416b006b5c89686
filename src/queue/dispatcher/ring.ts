import type { UnscopedReads } from "../../store/index.ts";
import type { Pool } from "../jobs/lane.ts";
import { type JobRow, jobsByLane } from "../jobs/rows.ts";

/** The number of rows in a page of a ring. They may belong to many lanes or to one. */
const pageSize = 16;

/** How many more pages one search may read. */
export interface PageBudget {
  pages: number;
}

/** All lanes whose encoded names are between these. There is no end if it is undefined. */
interface LaneRange {
  readonly start: string;
  readonly end: string | undefined;
}

/** The lanes of a range that have jobs, in the order of their names. The first follows the last. */
export class Ring {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #range: LaneRange;
  /** The lane after which the ring is read next, encoded. The caller sets it. */
  last: string;
  /** The last lane of the round, encoded: the one that was read last when the round began. */
  #endOfRound: string;
  /** Whether the round has passed the end of the ring: it goes on with the first lanes. */
  #isPastEnd = false;

  constructor(reads: UnscopedReads, pool: Pool, range: LaneRange, last: string = range.start) {
    this.#reads = reads;
    this.#pool = pool;
    this.#range = range;
    this.last = this.#endOfRound = last;
  }

  /** Begins a round: the next reads return each lane once. It goes on where the last one ended. */
  beginRound(): void {
    this.#endOfRound = this.last;
    this.#isPastEnd = false;
  }

  /**
   * Yields the next lanes of the round, each as its job with the earliest due time: to the end of
   * the ring, then from its beginning. The caller notes each lane that it reads as the last one.
   * Returns whether the round is over.
   */
  async *lanes(budget: PageBudget): AsyncGenerator<JobRow, boolean> {
    const { start, end } = this.#range;
    const atEnd = end === undefined ? undefined : [end];
    while (budget.pages > 0) {
      budget.pages--;
      const rows = await this.#readPage(
        this.#isPastEnd ? [this.#endOfRound, Number.MAX_SAFE_INTEGER] : atEnd,
      );
      for (const row of rows) {
        // The lane's other rows are skipped.
        if (row.lane !== this.last) yield row;
      }
      // The last lane of the round may fill the page with its own rows.
      const isAtEnd = this.#isPastEnd && this.last === this.#endOfRound;
      if (rows.length === pageSize && !isAtEnd) continue;
      if (this.#isPastEnd || this.#endOfRound === start) return true;
      this.#isPastEnd = true;
      this.last = start;
    }
    return false;
  }

  /** Reads a page of jobs, due or not, lane by lane. */
  async #readPage(until: readonly (string | number)[] | undefined): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [this.last, Number.MAX_SAFE_INTEGER],
      ...(until === undefined ? {} : { until }),
      limit: pageSize,
    });
  }
}
