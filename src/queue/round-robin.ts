/** Which due jobs run first: fair among the groups of lanes, and by class within a group. */
import { pickByClass } from "./classes.ts";
import { classOf, decodeLane, groupOf, type Lane } from "./lane.ts";
import type { JobRow, StoredJobName } from "./rows.ts";

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

/** How many more jobs may run. */
interface Room {
  /** In the pool. */
  readonly free: number;
  /** In a lane. */
  readonly freeIn: (lane: Lane) => number;
  /** The number of the next pick in a lane's group (`pickByClass`). */
  readonly nextPick: (lane: Lane) => number;
}

/**
 * Orders jobs fairly: one of each group of lanes, then a second of each, and so on, until there is
 * no room. In a group, jobs are picked by class.
 */
export function roundRobin(due: readonly DueJob[], { free, freeIn, nextPick }: Room): DueJob[] {
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
