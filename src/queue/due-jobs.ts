import { decodeLane, encodeLane, type Lane, type Pool } from "./job.ts";
import { type JobRow, jobsByDueTime, jobsByLane, type StoredJobName } from "./rows.ts";
import type { UnscopedReads } from "../store/index.ts";

/** A job that was found due. */
export interface DueJob extends StoredJobName {
  readonly lane: Lane;
}

/** How much one dispatcher may take from a pool. */
interface Room {
  readonly now: number;
  /** How many more jobs of the pool may run. */
  readonly free: number;
  /** How many more jobs of this lane may run. */
  readonly freeIn: (lane: Lane) => number;
  /** How long due jobs of a lane are left to other dispatchers, in milliseconds; by default 0. */
  readonly waitForOthersMs?: (lane: Lane) => number;
  /**
   * Jobs that have just become due in this process. If many jobs are due, a search may not find
   * these at once.
   */
  readonly armed?: readonly DueJob[];
}

/**
 * The minimum and maximum number of due jobs that are read in order of time, before lanes are read
 * one by one.
 */
const window = { min: 64, max: 256 } as const;
/**
 * The number of rows that one read of the ring of lanes returns. They may belong to many lanes or
 * to one.
 */
const page = 16;
/**
 * The maximum number of pages that one search reads. The next search continues where this one
 * ended.
 */
const maxPages = 16;

/**
 * Finds the due jobs of one pool, fairly among lanes. Usually all due jobs fit into one window.
 * When they do not, the backlog of one lane may fill it. Then lanes are also read one by one, in a
 * ring, and their jobs come first. A lane with a million due jobs delays another lane by at most
 * one round of the ring. The work of one search is bounded, however many lanes there are.
 */
export class DueJobs {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  /** The lane that was read last, encoded. */
  #lane = "";
  #hasReadAllLanes = true;

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
  }

  /** False if the last search did not read every lane. Another search may then find more jobs. */
  get hasReadAllLanes(): boolean {
    return this.#hasReadAllLanes;
  }

  async find({
    now,
    free,
    freeIn,
    waitForOthersMs = () => 0,
    armed = [],
  }: Room): Promise<readonly DueJob[]> {
    const limit = Math.min(Math.max(window.min, 2 * free), window.max);
    const rows = await this.#readDue(now, limit);
    const due = rows.flatMap((row) => {
      const job = dueJob(row);
      return row.due_at <= now - waitForOthersMs(job.lane) ? [job] : [];
    });
    this.#hasReadAllLanes = true;
    if (rows.length < limit) return roundRobin(due, free, freeIn);
    const found = await this.#readRing({ now, free, freeIn, waitForOthersMs });
    const ours = armed.filter(({ lane }) => waitForOthersMs(lane) === 0);
    const jobs = new Map([...found, ...ours, ...due].map((job) => [`${job.kind} ${job.key}`, job]));
    return roundRobin([...jobs.values()], free, freeIn);
  }

  /** Returns when the first job after `now` is due, or undefined if there is none. */
  async next(now: number): Promise<number | undefined> {
    const [first] = await this.#reads.range({
      index: jobsByDueTime,
      prefix: [this.#pool],
      order: "ascending",
      after: [now],
      limit: 1,
    });
    return first?.due_at;
  }

  /**
   * Reads each lane after the last one that was read, at most once, until there are enough jobs.
   */
  async #readRing({
    now,
    free,
    freeIn,
    waitForOthersMs,
  }: Required<Omit<Room, "armed">>): Promise<DueJob[]> {
    const found: DueJob[] = [];
    const start = this.#lane;
    let isRound = false;
    this.#hasReadAllLanes = false;
    for (let pages = 0; pages < maxPages; pages++) {
      const rows = await this.#readLanes(this.#lane);
      for (const { lane: text, due_at } of rows) {
        // The first job of a lane is the one that is due first.
        if (text === this.#lane) continue;
        this.#hasReadAllLanes = isRound && text > start;
        if (this.#hasReadAllLanes) return found;
        this.#lane = text;
        const lane = decodeLane(text);
        const until = now - waitForOthersMs(lane);
        const limit = due_at > until ? 0 : Math.min(freeIn(lane), free);
        if (limit > 0) found.push(...(await this.#readLane(text, until, limit)).map(dueJob));
        if (found.length >= free) return found;
      }
      if (rows.length < page) {
        this.#hasReadAllLanes = isRound || start === "";
        if (this.#hasReadAllLanes) return found;
        isRound = true;
        this.#lane = "";
      }
    }
    return found;
  }

  async #readDue(now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByDueTime,
      prefix: [this.#pool],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  async #readLane(lane: string, now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool, lane],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  async #readLanes(after: string): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [after, Number.MAX_SAFE_INTEGER],
      limit: page,
    });
  }
}

const dueJob = ({ kind, key, lane }: JobRow): DueJob => ({ kind, key, lane: decodeLane(lane) });

/**
 * Orders jobs fairly: one of each lane, then a second of each, and so on, until there is no room.
 */
export function roundRobin(
  due: readonly DueJob[],
  free: number,
  freeIn: (lane: Lane) => number,
): DueJob[] {
  const lanes = new Map<string, DueJob[]>();
  for (const job of due) {
    const name = encodeLane(job.lane);
    const jobs = lanes.get(name);
    if (jobs === undefined) lanes.set(name, [job]);
    else jobs.push(job);
  }
  const queues = [...lanes.values()].map((jobs) =>
    jobs.slice(0, Math.max(0, ...jobs.slice(0, 1).map(({ lane }) => freeIn(lane)))),
  );
  const taken: DueJob[] = [];
  for (let round = 0; taken.length < free; round++) {
    const next = queues.flatMap((jobs) => jobs.slice(round, round + 1));
    if (next.length === 0) break;
    taken.push(...next.slice(0, free - taken.length));
  }
  return taken;
}
