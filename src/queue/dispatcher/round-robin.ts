/** Which due jobs run first: fair among the groups of lanes, and by class within a group. */
import { pickByClass, type JobClass } from "../jobs/classes.ts";
import { classOf, decodeLane, groupOf, type Lane } from "../jobs/lane.ts";
import type { JobRow, StoredJobName } from "../jobs/rows.ts";

/** A job that was found due. */
export interface DueJob extends StoredJobName, Pick<JobRow, "account_id" | "mode"> {
  readonly lane: Lane;
}

export function dueJob({
  kind,
  key,
  account_id,
  mode,
  lane,
}: Pick<JobRow, "kind" | "key" | "account_id" | "mode" | "lane">): DueJob {
  return { kind, key, account_id, mode, lane: decodeLane(lane) };
}

/** How many more jobs may run now, and which class of a group is next. */
export interface Room {
  /** How many more jobs of the pool may run. */
  readonly free: number;
  /** How many more jobs of a lane may run. */
  readonly freeIn: (lane: Lane) => number;
  /** How many more jobs may run under the limit that a lane shares with others (`limitOf`). */
  readonly freeUnderLimit: (lane: Lane) => number;
  /** The number of the next pick in a lane's group (`pickByClass`). */
  readonly nextPick: (lane: Lane) => number;
}

/**
 * Orders jobs fairly: one of each group of lanes, then a second of each, and so on, until there is
 * no room. In a group, jobs are picked by class.
 */
export function roundRobin(due: readonly DueJob[], room: Room): DueJob[] {
  const groups = Map.groupBy(due, ({ lane }) => groupOf(lane));
  const queues = [...groups.values()].map((jobs) => pickFromGroup(jobs, room));
  const taken: DueJob[] = [];
  for (let round = 0; taken.length < room.free; round++) {
    const next = queues.flatMap((jobs) => jobs.slice(round, round + 1));
    if (next.length === 0) break;
    taken.push(...next.slice(0, room.free - taken.length));
  }
  return taken;
}

/** Returns as many jobs of one group as there is room for, picked by class. */
function pickFromGroup(jobs: readonly DueJob[], { freeIn, nextPick }: Room): readonly DueJob[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const startable = new Map<JobClass, readonly DueJob[]>();
  let max = 0;
  for (const [jobClass, inLane] of Map.groupBy(jobs, ({ lane }) => classOf(lane))) {
    const [{ lane } = first] = inLane;
    const free = Math.max(0, freeIn(lane));
    startable.set(jobClass, inLane.slice(0, free));
    max = Math.max(max, free);
  }
  return pickByClass(startable, nextPick(first.lane), max);
}
