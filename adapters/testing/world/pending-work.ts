import { type JobRow, jobs } from "../../../src/queue/index.ts";
import type { Ground } from "./run-context.ts";

/** How many jobs are read. More of them are not finished either. */
const maxJobs = 1_000;
/** Jobs that only clean up, whatever happened. */
const upkeep = new Set(["reap", "throttle"]);

/** The jobs that are still to be done, one sentence each. */
export async function pendingWork({ reader }: Ground, now: number): Promise<readonly string[]> {
  const [rows = []] = await reader.get([{ index: jobs.primary, key: [], limit: maxJobs }]);
  return (rows as readonly object[] as readonly JobRow[])
    .filter(({ kind }) => !upkeep.has(kind))
    .map(({ kind, key, leased, due_at }) => {
      const due = due_at <= now ? "now" : `in ${Math.ceil((due_at - now) / 1_000)} s`;
      return leased ? `the job ${kind} of ${key} runs` : `the job ${kind} of ${key} is due ${due}`;
    });
}
