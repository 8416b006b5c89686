import type { JobName } from "./types.ts";
import { type JobRow, jobsByDueTime, jobsByLane } from "./rows.ts";
import type { Road } from "./rules.ts";
import type { UnscopedReads } from "../store/reads.ts";

/** A job that was found due. */
export interface DueJob extends JobName {
  readonly lane: string;
}

/** What one dispatcher may still take on a road. */
export interface Room {
  readonly now: number;
  /** Jobs in all. */
  readonly free: number;
  /** How many more jobs of this lane it may run. */
  readonly freeIn: (lane: string) => number;
  /** How long this lane's jobs are left to other dispatchers when they are due, in milliseconds; by default not at all. */
  readonly leaveIn?: (lane: string) => number;
  /** Jobs that became due here just now: where much is due that has no room, they are not searched for. */
  readonly armed?: readonly DueJob[];
}

/** Due jobs that are looked at in order of time before lanes are asked one by one: at least, and at most where there is room for many. */
const window = { least: 64, most: 256 } as const;
/** Rows that are read at once of the lanes in a ring: as many lanes where each has one job, one lane where it has many. */
const page = 16;
/** Pages in one search, whether it finds something or not; the next search goes on where this one ended. */
const mostPages = 16;

/**
 * Finds due jobs of one road so that lanes take turns. Usually all that is due fits into one window. When it doesn't, one lane's backlog may fill
 * it, so some lanes are asked in a ring as well, and what they have goes first: a lane with a million due jobs delays another one by
 * no more than the ring takes to come round to it. The work of one search is bounded, however many lanes there are.
 */
export class DueJobs {
  readonly #reads: UnscopedReads;
  readonly #road: Road;
  /** The lane that was asked last. */
  #lane = "";
  #isThrough = true;

  constructor(reads: UnscopedReads, road: Road) {
    this.#reads = reads;
    this.#road = road;
  }

  /** False when the last search had lanes left to ask: there may be more to find at once. */
  get isThrough(): boolean {
    return this.#isThrough;
  }

  async find({
    now,
    free,
    freeIn,
    leaveIn = () => 0,
    armed = [],
  }: Room): Promise<readonly DueJob[]> {
    const most = Math.min(Math.max(window.least, 2 * free), window.most);
    const all = await this.#readDue(now, most);
    const due = all.filter(({ lane, due_at }) => due_at <= now - leaveIn(lane));
    this.#isThrough = true;
    if (all.length < most) return takeTurns(due, free, freeIn);
    const found = await this.#ask({ now, free, freeIn, leaveIn });
    const mine = armed.filter(({ lane }) => leaveIn(lane) === 0);
    const jobs = new Map([...found, ...mine, ...due].map((job) => [`${job.kind} ${job.key}`, job]));
    return takeTurns([...jobs.values()], free, freeIn);
  }

  /** When the first job after `now` is due; `undefined` when there is none. */
  async next(now: number): Promise<number | undefined> {
    const [first] = await this.#reads.range({
      index: jobsByDueTime,
      prefix: [this.#road],
      order: "ascending",
      after: [now],
      limit: 1,
    });
    return first?.due_at;
  }

  /** Due jobs of the lanes after the one that was asked last, once round at most, until there are enough. */
  async #ask({ now, free, freeIn, leaveIn }: Required<Omit<Room, "armed">>): Promise<JobRow[]> {
    const found: JobRow[] = [];
    const start = this.#lane;
    let isRound = false;
    this.#isThrough = false;
    for (let pages = 0; pages < mostPages; pages++) {
      const rows = await this.#readLanes(this.#lane);
      for (const { lane, due_at } of rows) {
        // Only the first job of a lane matters: it is the one that is due first.
        if (lane === this.#lane) continue;
        this.#isThrough = isRound && lane > start;
        if (this.#isThrough) return found;
        this.#lane = lane;
        const until = now - leaveIn(lane);
        const most = due_at > until ? 0 : Math.min(freeIn(lane), free);
        if (most > 0) found.push(...(await this.#readLane(lane, until, most)));
        if (found.length >= free) return found;
      }
      if (rows.length < page) {
        this.#isThrough = isRound || start === "";
        if (this.#isThrough) return found;
        isRound = true;
        this.#lane = "";
      }
    }
    return found;
  }

  async #readDue(now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByDueTime,
      prefix: [this.#road],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  async #readLane(lane: string, now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#road, lane],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  async #readLanes(after: string): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [this.#road],
      order: "ascending",
      after: [after, Number.MAX_SAFE_INTEGER],
      limit: page,
    });
  }
}

/** One of each lane, then a second of each, and so on, as far as there is room. */
export function takeTurns(
  due: readonly DueJob[],
  free: number,
  freeIn: (lane: string) => number,
): DueJob[] {
  const lanes = new Map<string, DueJob[]>();
  for (const job of due) {
    const lane = lanes.get(job.lane);
    if (lane === undefined) lanes.set(job.lane, [job]);
    else lane.push(job);
  }
  const queues = [...lanes].map(([lane, jobs]) => jobs.slice(0, Math.max(0, freeIn(lane))));
  const taken: DueJob[] = [];
  for (let turn = 0; taken.length < free; turn++) {
    const round = queues.flatMap((jobs) => jobs.slice(turn, turn + 1));
    if (round.length === 0) break;
    taken.push(
      ...round.slice(0, free - taken.length).map(({ kind, key, lane }) => ({ kind, key, lane })),
    );
  }
  return taken;
}
