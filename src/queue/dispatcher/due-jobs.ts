import type { Random } from "../../ports/index.ts";
import type { UnscopedReads } from "../../store/index.ts";
import { encodeLane, limitOf, type Lane, type Pool } from "../jobs/lane.ts";
import { nameOf } from "../jobs/rows.ts";
import { readByDueTime } from "./due-times.ts";
import { LaneRing, type RingSearch } from "./lane-ring.ts";
import { dueJob, roundRobin, type DueJob } from "./round-robin.ts";

/** Which jobs one search of a pool finds. */
export interface DueJobsSearch extends RingSearch {
  /**
   * Jobs that became due by commits of this process. If many jobs are due, the search itself may
   * not find these at once.
   */
  readonly armed: readonly DueJob[];
}

/**
 * The minimum and maximum size of the window: the jobs that have been due for longest, which each
 * search reads first.
 */
const windowSize = { min: 64, max: 256 } as const;
/**
 * How long the result of a round holds, in milliseconds. Then the lanes are read again, because
 * another process may have armed jobs and the storage may send no notifications.
 */
const roundHoldsMs = 5_000;

/**
 * Finds the due jobs of one pool, fairly among lanes. Usually all due jobs fit into one window. If
 * they do not, the backlog of one lane may fill it. Then the search also reads the lanes one by one
 * (`LaneRing`), and the jobs that it finds there come first. A lane with a million due jobs delays
 * another lane by at most one round of the ring. The work of one search is bounded, however many
 * lanes there are, so a round may take several searches.
 *
 * When a round has found no job that can start, the lanes are not read again until one may have
 * such a job:
 * - A slot was freed, or another process armed a job. The caller calls `noteChange`.
 * - A job became due. `nextDueAt` returns the first one since the round began.
 * - A commit of this process armed a job. The search gets it as `armed`.
 */
export class DueJobs {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  readonly #ring: LaneRing;
  readonly #random: Random;
  #hasReadAllLanes = false;
  /** The time of the search with which the last round began. */
  #roundBeganAt = -Infinity;
  /** Whether a lane may have jobs that can start now, though it was read in this round. */
  #hasChanged = true;
  readonly #lanesWithMore = new Map<string, Lane>();
  /** One lane for each limit that was reached, by the name of the limit. */
  readonly #lanesAtLimits = new Map<string, Lane>();

  constructor(reads: UnscopedReads, pool: Pool, random: Random) {
    this.#reads = reads;
    this.#pool = pool;
    this.#random = random;
    this.#ring = new LaneRing(reads, pool);
  }

  /** False if the round is not over. Another search may then find more jobs. */
  get hasReadAllLanes(): boolean {
    return this.#hasReadAllLanes;
  }

  /** Whether due jobs may wait that the last search did not return, or that could not start. */
  get hasMore(): boolean {
    return this.#lanesWithMore.size > 0 || this.#lanesAtLimits.size > 0;
  }

  /** Whether such jobs may wait in a lane. */
  hasMoreIn(lane: Lane): boolean {
    return this.#lanesWithMore.has(encodeLane(lane));
  }

  /** The lanes in which such jobs may wait. */
  get lanesWithMore(): readonly Lane[] {
    return [...this.#lanesWithMore.values()];
  }

  /** One lane for each limit that was reached. Such jobs may wait in all lanes under it. */
  get lanesAtLimits(): readonly Lane[] {
    return [...this.#lanesAtLimits.values()];
  }

  /** Notes that a job of a lane, which the last search has found, could not start. */
  noteMoreIn(lane: Lane): void {
    this.#lanesWithMore.set(encodeLane(lane), lane);
  }

  /**
   * Notes that a slot was freed, or that jobs may be due which no search gets as `armed`. The next
   * search begins a round.
   */
  noteChange(): void {
    this.#hasChanged = true;
  }

  /** Notes that it is unknown which jobs are due, because the storage failed. */
  noteFailure(): void {
    this.#hasReadAllLanes = false;
    this.#hasChanged = true;
  }

  async find(search: DueJobsSearch): Promise<readonly DueJob[]> {
    const { now, free, waitForOthersMs, spread, armed } = search;
    // Before the reads, so that a change during them begins another round.
    const isNewRound = this.#beginRoundIfNeeded(now);
    const limit = Math.min(Math.max(windowSize.min, 2 * free), windowSize.max);
    const rows = await readByDueTime(this.#reads, { pool: this.#pool, until: now, limit });
    const due = rows.flatMap((row) => {
      const job = dueJob(row);
      return row.due_at <= now - waitForOthersMs(job.lane) ? [job] : [];
    });
    // A shorter window has all due jobs.
    const isFull = rows.length === limit;
    const isRoundOver = !isNewRound && this.#hasReadAllLanes;
    const ring = isFull && !isRoundOver ? await this.#ring.read(search) : undefined;
    const runsHere = ({ lane }: DueJob): boolean => waitForOthersMs(lane) === 0;
    // Each part is shuffled by itself, so that the jobs of the ring stay in front.
    const spreadOut = (jobs: readonly DueJob[]): readonly DueJob[] =>
      spread > 1 ? shuffle(jobs, this.#random) : jobs;
    const all = isFull
      ? distinct([...spreadOut(ring?.found ?? []), ...armed.filter(runsHere), ...spreadOut(due)])
      : spreadOut(due);
    const fitting = roundRobin(all, search);
    const starting = new Set(fitting);
    // Set at the end, because `PoolQueue` uses the result of the last search during this one.
    this.#hasReadAllLanes = ring?.hasReadAllLanes ?? true;
    if (!isFull) this.#roundBeganAt = now;
    if (isNewRound || !isFull) {
      this.#lanesWithMore.clear();
      this.#lanesAtLimits.clear();
    }
    for (const lane of ring?.lanesWithMore ?? []) this.noteMoreIn(lane);
    for (const lane of ring?.lanesAtLimits ?? []) {
      this.#lanesAtLimits.set(limitOf(lane) ?? "", lane);
    }
    for (const job of all) if (!starting.has(job)) this.noteMoreIn(job.lane);
    // Other jobs may wait behind these. They have room if these cannot be leased.
    if (fitting.length > 0) this.#hasChanged = true;
    return fitting;
  }

  /**
   * Returns when the first job is due that was not due when the round began, or undefined if there
   * is none.
   */
  async nextDueAt(now: number): Promise<number | undefined> {
    // The clock may have been set back since.
    const after = Math.min(this.#roundBeganAt, now);
    const [first] = await readByDueTime(this.#reads, { pool: this.#pool, after, limit: 1 });
    // Its lane may have been read before it was due.
    if (first !== undefined && first.due_at <= now) this.#hasChanged = true;
    return first?.due_at;
  }

  /**
   * Begins a round, unless one is under way or the result of the last one holds. Returns whether it
   * did.
   */
  #beginRoundIfNeeded(now: number): boolean {
    // The clock may have been set back.
    const isRecent = now >= this.#roundBeganAt && now < this.#roundBeganAt + roundHoldsMs;
    if (!this.#hasChanged && (isRecent || !this.#hasReadAllLanes)) {
      // If the clock is set back during a round, its other lanes are read only up to the new time.
      this.#roundBeganAt = Math.min(this.#roundBeganAt, now);
      return false;
    }
    this.#hasChanged = false;
    this.#roundBeganAt = now;
    this.#ring.beginRound();
    return true;
  }
}

/** Returns the jobs in a random order. */
function shuffle(jobs: readonly DueJob[], random: Random): readonly DueJob[] {
  const bytes = Buffer.from(random.bytes(4 * jobs.length));
  const drawn = jobs.map((job, i) => ({ job, number: bytes.readUInt32LE(4 * i) }));
  return drawn.toSorted((a, b) => a.number - b.number).map(({ job }) => job);
}

function distinct(jobs: readonly DueJob[]): readonly DueJob[] {
  return [...new Map(jobs.map((job) => [nameOf(job), job])).values()];
}
