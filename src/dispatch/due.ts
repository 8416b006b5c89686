import type { JobName } from "../domain/jobs/types.ts";
import { type JobRow, jobsByDueTime, jobsByLane } from "../domain/jobs/rows.ts";
import type { Reads } from "../transactions/reads.ts";

/** What one dispatcher may still take. */
export interface Room {
  readonly now: number;
  /** Jobs in all. */
  readonly free: number;
  /** How many more jobs of this lane it may run. */
  readonly freeIn: (lane: string) => number;
}

/** Due jobs that are looked at in order of time before the lanes are asked one by one. */
const window = 256;
/** Lanes that are asked in one search that finds something; the next search goes on where this one ended. */
const mostLanes = 64;

/**
 * Finds due jobs so that lanes take turns. Usually all that is due fits into one window. When it doesn't, one lane's backlog may fill
 * it, so the lanes are asked in a ring: a lane with a million due jobs delays another one by no more than its turn.
 */
export class DueJobs {
  readonly #reads: Reads;
  /** The lane that was asked last. */
  #lane = "";

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  async find({ now, free, freeIn }: Room): Promise<readonly JobName[]> {
    const due = await this.#readDue(now, window);
    if (due.length < window) return takeTurns(due, free, freeIn);

    const found: JobRow[] = [];
    let asked = 0;
    for await (const { lane, due_at } of this.#lanes()) {
      const most = due_at > now ? 0 : Math.min(freeIn(lane), free);
      if (most > 0) found.push(...(await this.#readLane(lane, now, most)));
      // Lanes where all is for later, or that are full, must not hide one that has room.
      if (found.length >= free || (++asked >= mostLanes && found.length > 0)) break;
    }
    return takeTurns(found, free, freeIn);
  }

  /** When the first job after `now` is due; `undefined` when there is none. */
  async next(now: number): Promise<number | undefined> {
    const [first] = await this.#reads.range({
      index: jobsByDueTime,
      prefix: [],
      order: "ascending",
      after: [now],
      limit: 1,
    });
    return first?.due_at;
  }

  async #readDue(now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByDueTime,
      prefix: [],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  async #readLane(lane: string, now: number, limit: number): Promise<readonly JobRow[]> {
    return this.#reads.range({
      index: jobsByLane,
      prefix: [lane],
      order: "ascending",
      until: [now + 1],
      limit,
    });
  }

  /** The first job of every lane, beginning after the lane that was asked last. */
  async *#lanes(): AsyncGenerator<JobRow> {
    const start = this.#lane;
    for (const half of [
      { from: start, last: undefined },
      { from: "", last: start },
    ]) {
      for (let job = await this.#laneAfter(half.from); job !== undefined; job = await this.#laneAfter(job.lane)) {
        if (half.last !== undefined && job.lane > half.last) break;
        this.#lane = job.lane;
        yield job;
      }
    }
  }

  async #laneAfter(lane: string): Promise<JobRow | undefined> {
    const [job] = await this.#reads.range({
      index: jobsByLane,
      prefix: [],
      order: "ascending",
      after: [lane, Number.MAX_SAFE_INTEGER],
      limit: 1,
    });
    return job;
  }
}

/** One of each lane, then a second of each, and so on, as far as there is room. */
export function takeTurns(due: readonly JobRow[], free: number, freeIn: (lane: string) => number): JobName[] {
  const lanes = new Map<string, JobRow[]>();
  for (const job of due) {
    const lane = lanes.get(job.lane);
    if (lane === undefined) lanes.set(job.lane, [job]);
    else lane.push(job);
  }
  const queues = [...lanes].map(([lane, jobs]) => jobs.slice(0, Math.max(0, freeIn(lane))));
  const taken: JobName[] = [];
  for (let turn = 0; taken.length < free; turn++) {
    const round = queues.flatMap((jobs) => jobs.slice(turn, turn + 1));
    if (round.length === 0) break;
    taken.push(...round.slice(0, free - taken.length).map(({ kind, key }) => ({ kind, key })));
  }
  return taken;
}
