import type { KeyValue } from "../../ports/index.ts";
import type { UnscopedReads } from "../../store/index.ts";
import { jobClasses } from "./classes.ts";
import { encodeLane, poolOf, type Lane } from "./lane.ts";
import { jobsByLane, type JobRow } from "./rows.ts";

/** The jobs of some lanes that wait or run now. */
interface WaitingJobs {
  /** Jobs that could run now. */
  readonly due: number;
  /** Jobs that wait for a later time, such as the next attempt, or for a throttle. */
  readonly later: number;
  /** Jobs that run now. */
  readonly running: number;
  /** Since when the longest waiting job is due, in milliseconds. Null if none is due. */
  readonly oldestDueAt: number | null;
}

/**
 * Counts the jobs of a lane, of its slow lane, of the other classes of both, and of the lanes
 * beside them that wait for a throttle. Reads at most `max` jobs of each, oldest first.
 */
export async function countWaiting(
  reads: Pick<UnscopedReads, "range">,
  lane: Lane,
  now: number,
  max: number,
): Promise<WaitingJobs> {
  const lanes = [lane, { ...lane, slow: !lane.slow }];
  const found = await Promise.all(lanes.flatMap((each) => rangesOf(each).map(read)));
  const jobs = found.flat();
  const waiting = jobs.filter(({ leased }) => !leased);
  const due = waiting.filter(({ due_at }) => due_at <= now);
  return {
    due: due.length,
    later: waiting.length - due.length,
    running: jobs.length - waiting.length,
    oldestDueAt: due.reduce<number | null>(
      (oldest, { due_at }) => Math.min(oldest ?? due_at, due_at),
      null,
    ),
  };

  function read(range: JobRange): Promise<readonly JobRow[]> {
    return reads.range<JobRow>({
      index: jobsByLane,
      order: "ascending",
      limit: max,
      ...range,
    });
  }
}

interface JobRange {
  readonly prefix: readonly KeyValue[];
  readonly after?: readonly KeyValue[];
  readonly until?: readonly KeyValue[];
}

/** Returns where the lanes of all classes are, and those beside them that wait for a throttle. */
function rangesOf(lane: Lane): readonly JobRange[] {
  const pool = poolOf(lane);
  if (!("class" in lane)) return [{ prefix: [pool, encodeLane(lane)] }];
  if (lane.kind !== "send") {
    return jobClasses.map((each) => ({ prefix: [pool, encodeLane({ ...lane, class: each })] }));
  }
  const usual = jobClasses.map((each) => encodeLane({ ...lane, waiting_for: null, class: each }));
  const [common = ""] = usual.map((name) => name.slice(0, name.lastIndexOf("//")));
  // The usual lanes are named "<common>//<class>", the others "<common>/<address>/<class>". The
  // address begins with a character before "/" or after it. In ASCII, "0" follows "/".
  return [
    ...usual.map((name) => ({ prefix: [pool, name] })),
    { prefix: [pool], after: [`${common}/`], until: [`${common}//`] },
    { prefix: [pool], after: [`${common}/0`], until: [`${common}0`] },
  ];
}
