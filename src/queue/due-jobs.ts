import { decodeLane, encodeLane, type Lane, type Pool, remoteOf } from "./job.ts";
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

/** What one engine can run. */
export interface Runnable {
  /** The pools whose jobs run in this engine. */
  readonly pools: readonly Pool[];
  /**
   * The remotes that are configured in this engine: transports and the analyzer. Jobs of other
   * remotes are left to other engines for a while.
   */
  readonly remotes: ReadonlySet<string>;
  /** Whether this engine may run the jobs of a lane at all. */
  readonly serves: (lane: Lane) => boolean;
}

/** Returns when the first job of these pools is due, leased jobs included. */
export async function firstDueAt(
  reads: UnscopedReads,
  pools: readonly Pool[],
): Promise<number | undefined> {
  const first = await Promise.all(pools.map((pool) => readInOrder(reads, { pool, limit: 1 })));
  const times = first.flat().map(({ due_at }) => due_at);
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Returns a job that this engine could run and that has been due since `since`, if no dispatcher
 * works on its pool. A dispatcher with due jobs holds leases, or takes the oldest jobs.
 */
export async function findIdleJob(
  reads: UnscopedReads,
  { pools, remotes, serves }: Runnable,
  { now, since }: { readonly now: number; readonly since: number },
): Promise<JobRow | undefined> {
  const isRunnable = ({ lane: text }: JobRow): boolean => {
    const lane = decodeLane(text);
    const remote = remoteOf(lane);
    return serves(lane) && (remote === undefined || remotes.has(remote));
  };
  for (const pool of pools) {
    const due = await readInOrder(reads, { pool, until: since, limit: page });
    const idle = due.find(isRunnable);
    if (idle === undefined) continue;
    const next = await readInOrder(reads, { pool, after: now, limit: window.max });
    if (!next.some(({ leased }) => leased)) return idle;
  }
  return undefined;
}

interface DueRange {
  readonly pool: Pool;
  /** Only jobs that are due after this time. */
  readonly after?: number;
  /** Only jobs that are due at this time or earlier. */
  readonly until?: number;
  readonly limit: number;
}

/** Reads jobs of one pool in the order of their due times. */
function readInOrder(
  reads: UnscopedReads,
  { pool, after, until, limit }: DueRange,
): Promise<readonly JobRow[]> {
  return reads.range({
    index: jobsByDueTime,
    prefix: [pool],
    order: "ascending",
    ...(after === undefined ? {} : { after: [after] }),
    ...(until === undefined ? {} : { until: [until + 1] }),
    limit,
  });
}

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
    const rows = await readInOrder(this.#reads, { pool: this.#pool, until: now, limit });
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
    const [first] = await readInOrder(this.#reads, { pool: this.#pool, after: now, limit: 1 });
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
