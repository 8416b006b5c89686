import { pickByClass } from "./classes.ts";
import { classOf, decodeLane, encodeLane, groupOf, type Lane, type Pool, remoteOf } from "./job.ts";
import { type JobRow, jobsByDueTime, jobsByLane, nameOf, type StoredJobName } from "./rows.ts";
import type { UnscopedReads } from "../store/index.ts";

/** A job that was found due. */
export interface DueJob extends StoredJobName {
  readonly lane: Lane;
}

/** Which jobs one search may return, and how many. */
interface DueJobsSearch {
  readonly now: number;
  /** How many more jobs of the pool may run. */
  readonly free: number;
  /** How many more jobs of a lane may run. */
  readonly freeIn: (lane: Lane) => number;
  /** The number of the next pick in a lane's group (`pickByClass`). By default 0. */
  readonly nextPick?: (lane: Lane) => number;
  /** How long due jobs of a lane are left to other engines, in milliseconds. By default 0. */
  readonly waitForOthersMs?: (lane: Lane) => number;
  /**
   * Jobs that became due by commits of this process. If many jobs are due, the search itself may
   * not find these at once.
   */
  readonly armed?: readonly DueJob[];
}

/**
 * The minimum and maximum size of the window: the jobs that have been due for longest, which each
 * search reads first.
 */
const windowSize = { min: 64, max: 256 } as const;
/** The number of rows in a page of the ring. They may belong to many lanes or to one. */
const ringPageSize = 16;
/**
 * The maximum number of pages that one search reads. The next search continues where this one
 * ended.
 */
const maxPages = 16;

/** The due jobs that were read lane by lane. */
interface RingJobs {
  readonly found: readonly DueJob[];
  /** The lanes that may have more due jobs than were read. */
  readonly cutLanes: readonly Lane[];
  readonly hasReadAllLanes: boolean;
}

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

/** Returns when the first job of these pools is due, leased jobs included. Makes one round trip. */
export async function firstDueAt(
  reads: UnscopedReads,
  pools: readonly Pool[],
): Promise<number | undefined> {
  const keys = pools.map((pool) => [pool]);
  const first = await reads.lists(jobsByDueTime, keys, 1);
  const times = first.flat().map(({ due_at }) => due_at);
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Returns a job that this engine could run and that has been due since `since`, if no dispatcher
 * works on its pool. A dispatcher that works on the pool holds leases, or soon takes the
 * oldest due jobs.
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
    const due = await readInOrder(reads, { pool, until: since, limit: ringPageSize });
    const idle = due.find(isRunnable);
    if (idle === undefined) continue;
    const next = await readInOrder(reads, { pool, after: now, limit: windowSize.max });
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
 * Finds the due jobs of one pool, fairly among lanes. Usually all due jobs fit into one window. If
 * they do not, the backlog of one lane may fill it. Then the search also reads the lanes one by
 * one, in the order of their names, and begins again after the last: the lanes form a ring. The
 * jobs that it finds there come first. A lane with a million due jobs delays another lane by at
 * most one round of the ring. The work of one search is bounded, however many lanes there are.
 */
export class DueJobs {
  readonly #reads: UnscopedReads;
  readonly #pool: Pool;
  /** The lane of the ring that was read last, encoded. */
  #lastLane = "";
  #hasReadAllLanes = false;
  readonly #leftLanes = new Map<string, Lane>();

  constructor(reads: UnscopedReads, pool: Pool) {
    this.#reads = reads;
    this.#pool = pool;
  }

  /** False if the last search did not read every lane. Another search may then find more jobs. */
  get hasReadAllLanes(): boolean {
    return this.#hasReadAllLanes;
  }

  /** Whether due jobs may wait that the last search left or that could not start. */
  get hasLeft(): boolean {
    return this.#leftLanes.size > 0;
  }

  /** The lanes in which such jobs may wait. */
  get leftLanes(): readonly Lane[] {
    return [...this.#leftLanes.values()];
  }

  /** Notes that a job which the last search has found could not start. */
  leave(lane: Lane): void {
    this.#leftLanes.set(encodeLane(lane), lane);
  }

  /** Notes that it is unknown which jobs are due, because the storage failed. */
  forget(): void {
    this.#hasReadAllLanes = false;
  }

  async find({
    now,
    free,
    freeIn,
    nextPick = () => 0,
    waitForOthersMs = () => 0,
    armed = [],
  }: DueJobsSearch): Promise<readonly DueJob[]> {
    const limit = Math.min(Math.max(windowSize.min, 2 * free), windowSize.max);
    const rows = await readInOrder(this.#reads, { pool: this.#pool, until: now, limit });
    const due = rows.flatMap((row) => {
      const job = dueJob(row);
      return row.due_at <= now - waitForOthersMs(job.lane) ? [job] : [];
    });
    let all: readonly DueJob[] = due;
    let ring: RingJobs | undefined;
    // A shorter window has all due jobs.
    if (rows.length === limit) {
      ring = await this.#readRing({ now, free, freeIn, waitForOthersMs });
      const armedHere = armed.filter(({ lane }) => waitForOthersMs(lane) === 0);
      const jobs = [...ring.found, ...armedHere, ...due];
      all = [...new Map(jobs.map((job) => [nameOf(job), job])).values()];
    }
    const fitting = roundRobin(all, { free, freeIn, nextPick });
    const starting = new Set(fitting);
    // Set at the end, because the result of the last search is used during this one.
    this.#hasReadAllLanes = ring?.hasReadAllLanes ?? true;
    this.#leftLanes.clear();
    for (const lane of ring?.cutLanes ?? []) this.leave(lane);
    for (const job of all) if (!starting.has(job)) this.leave(job.lane);
    return fitting;
  }

  /** Returns when the first job after `now` is due, or undefined if there is none. */
  async next(now: number): Promise<number | undefined> {
    const [first] = await readInOrder(this.#reads, { pool: this.#pool, after: now, limit: 1 });
    return first?.due_at;
  }

  /**
   * Reads the lanes of the ring, from the one after the last that was read. Stops when each lane
   * was read once, or when there are enough jobs and a group ends: its jobs are picked by class, so
   * all of its lanes must be known.
   */
  async #readRing({
    now,
    free,
    freeIn,
    waitForOthersMs,
  }: Required<Omit<DueJobsSearch, "armed" | "nextPick">>): Promise<RingJobs> {
    const found: DueJob[] = [];
    const cutLanes: Lane[] = [];
    const start = this.#lastLane;
    let group = "";
    /** Whether the search has begun again at the first lane. */
    let hasWrapped = false;
    const ringJobs = (hasReadAllLanes: boolean): RingJobs => ({ found, cutLanes, hasReadAllLanes });
    for (let pages = 0; pages < maxPages; pages++) {
      const rows = await this.#readLanes(this.#lastLane);
      for (const { lane: text, due_at } of rows) {
        // The first row of a lane has its earliest due time. The lane's other rows are skipped.
        if (text === this.#lastLane) continue;
        if (hasWrapped && text > start) return ringJobs(true);
        const lane = decodeLane(text);
        if (found.length >= free && groupOf(lane) !== group) return ringJobs(false);
        this.#lastLane = text;
        group = groupOf(lane);
        const until = now - waitForOthersMs(lane);
        if (due_at > until) continue;
        const limit = Math.max(0, Math.min(freeIn(lane), free));
        const inLane = limit > 0 ? await this.#readLane(text, until, limit) : [];
        found.push(...inLane.map(dueJob));
        if (inLane.length === limit) cutLanes.push(lane);
      }
      if (rows.length < ringPageSize) {
        if (hasWrapped || start === "") return ringJobs(true);
        hasWrapped = true;
        this.#lastLane = "";
      }
    }
    return ringJobs(false);
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

  /** Reads the next rows of the ring, after all rows of the lane `after`. */
  async #readLanes(after: string): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#pool],
      order: "ascending",
      after: [after, Number.MAX_SAFE_INTEGER],
      limit: ringPageSize,
    });
  }
}

const dueJob = ({ kind, key, lane }: JobRow): DueJob => ({ kind, key, lane: decodeLane(lane) });

/**
 * Orders jobs fairly: one of each group of lanes, then a second of each, and so on, until there is
 * no room. In a group, jobs are picked by class.
 */
export function roundRobin(
  due: readonly DueJob[],
  { free, freeIn, nextPick }: Required<Pick<DueJobsSearch, "free" | "freeIn" | "nextPick">>,
): DueJob[] {
  const groups = Map.groupBy(due, ({ lane }) => groupOf(lane));
  const queues = [...groups.values()].map((jobs) => pickFromGroup(jobs, freeIn, nextPick));
  const taken: DueJob[] = [];
  for (let round = 0; taken.length < free; round++) {
    const next = queues.flatMap((jobs) => jobs.slice(round, round + 1));
    if (next.length === 0) break;
    taken.push(...next.slice(0, free - taken.length));
  }
  return taken;
}

/** Returns as many jobs of one group as there is room for, picked by class. */
function pickFromGroup(
  jobs: readonly DueJob[],
  freeIn: (lane: Lane) => number,
  nextPick: (lane: Lane) => number,
): readonly DueJob[] {
  const lanes = [...Map.groupBy(jobs, ({ lane }) => classOf(lane))].flatMap(([name, inLane]) => {
    const [first] = inLane;
    return first === undefined ? [] : [{ name, inLane, free: Math.max(0, freeIn(first.lane)) }];
  });
  const [first] = jobs;
  if (first === undefined) return [];
  const waiting = lanes.map(({ name, inLane, free }) => [name, inLane.slice(0, free)] as const);
  return pickByClass(
    new Map(waiting),
    nextPick(first.lane),
    Math.max(...lanes.map(({ free }) => free)),
  );
}
