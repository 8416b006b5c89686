import type { StoragePort } from "../../../src/ports/index.ts";
import { jobs, type JobRow } from "../../../src/queue/index.ts";
import type { VirtualClock } from "../simulated/virtual-clock.ts";
import type { Story } from "./story.ts";

type Reader = StoragePort["reader"];

/** The most jobs that are read. If there are more, the work is not finished anyway. */
const maxJobs = 1_000;
/** Jobs that only clean up. A world can settle before they run. */
const upkeep = new Set(["reap", "throttle"]);

async function readJobs(reader: Reader): Promise<readonly JobRow[]> {
  const [rows = []] = await reader.get([{ index: jobs.primary, key: [], limit: maxJobs }]);
  return rows as readonly object[] as readonly JobRow[];
}

/** The jobs that are still to be done, one sentence each. */
export async function pendingJobs(reader: Reader, now: number): Promise<readonly string[]> {
  const rows = await readJobs(reader);
  return rows
    .filter(({ kind }) => !upkeep.has(kind))
    .map(({ kind, key, leased, due_at }) => {
      const due = due_at <= now ? "now" : `in ${Math.ceil((due_at - now) / 1_000)} s`;
      return leased ? `the job ${kind} of ${key} runs` : `the job ${kind} of ${key} is due ${due}`;
    });
}

/** A jump ends this long before the next job is due: longer than between two polls of an engine. */
const beforeDueMs = 15_000;
/** Shorter waits are not worth a jump. */
const minJumpMs = 60_000;

/**
 * Skips the time until shortly before the next job is due, if no job runs. Otherwise engines that
 * have nothing to do for a day would look for jobs thousands of times. Call it only while nothing
 * else is under way: timers stand still. The jump never passes `latest`.
 */
export async function skipIdleTime(
  reader: Reader,
  clock: VirtualClock,
  story: Story,
  latest = Infinity,
): Promise<void> {
  // Nobody waits for the job that removes what has expired. It runs after the jump.
  const rows = (await readJobs(reader)).filter(({ kind }) => kind !== "reap");
  // Timers renew the leases of running jobs, and they stand still.
  if (rows.length === 0 || rows.some(({ leased }) => leased)) return;
  const due = Math.min(...rows.map(({ due_at }) => due_at)) - beforeDueMs;
  const ms = Math.min(due, latest) - clock.now();
  if (ms < minJumpMs) return;
  clock.skip(ms);
  story.note([], `nothing happens for ${Math.round(ms / 1_000)} s`);
}
