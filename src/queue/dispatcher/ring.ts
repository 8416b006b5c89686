import type { UnscopedReads } from "../../store/index.ts";
import { everyLane, type LaneRange, type Pool } from "../jobs/lane.ts";
import { jobsByLane, type JobRow } from "../jobs/rows.ts";

/** The number of rows in a page of a ring. They may belong to many lanes or to one. */
const pageSize = 16;

/** How many more pages one search may read. */
export interface PageBudget {
  pages: number;
}

/**
 * The lanes of some ranges that have jobs, in the order of their names. The first follows the last.
 */
export class Ring {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #ranges: readonly LaneRange[];
  readonly #firstRange: LaneRange;
  /** The lane after which the ring is read next, encoded. The caller sets it. */
  last: string;
  /** The last lane of the round, encoded: the one that was read last when the round began. */
  #endOfRound: string;
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
  }

  /**
   * Yields the next lanes of the round, each as its job with the earliest due time: to the end of
   * the ring, then from its beginning. The caller notes each lane that it reads as the last one.
   * Returns whether the round is over.
   */
  async *lanes(budget: PageBudget): AsyncGenerator<JobRow, boolean> {
    while (budget.pages > 0) {
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
      if (isLastRange) return true;
      this.#goToNextRange(range);
      // The round began with the first lane.
      if (this.#isPastEnd && this.last === this.#endOfRound) return true;
    }
    return false;
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
