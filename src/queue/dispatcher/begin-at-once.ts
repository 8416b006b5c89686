/**
 * A job that is due at once starts in the transaction that arms it. Otherwise it would wait in the
 * storage until a search of the dispatcher finds it, and its lease would be a commit of its own.
 *
 * 1. A command arms a job that is new. When its body has run, the store calls `begin` with the rows
 *    of the new jobs (`BodyRunner`). It does so only for the engine's own transactions: one of the
 *    host application may never commit.
 * 2. The job gets a slot, if every job that waits ahead of it also gets one
 *    (`PoolQueue.takeSlotFor`). If not, it stays in the storage, and a search finds it.
 * 3. The same transaction leases the job and runs its first step, such as the hand-over of a
 *    message (`takeJob`).
 * 4. When the transaction has been committed, the store calls `onCommitted`: the rest of the job
 *    runs, as if a search had found it. If the transaction fails or runs again, the store calls
 *    `onUndone`, which gives the slot back. Lease and first step are gone with the writes of the
 *    transaction. If the storage fails in the commit, the answer to the commit may be lost, and the
 *    store calls `onOutcomeUnknown`.
 */
import type { Starter } from "../../store/index.ts";
import { decodeLane, type Lane } from "../jobs/lane.ts";
import { jobs, type JobRow } from "../jobs/rows.ts";
import type { RunningJobs } from "./running-jobs.ts";
import { takeJob, type TakeJobOptions, type TakenJob } from "./take-job.ts";

interface BeginAtOnceOptions extends TakeJobOptions {
  /** Takes a slot for a new job. Returns whether it did. */
  readonly takeSlot: (job: JobRow, lane: Lane) => boolean;
  readonly running: RunningJobs;
}

/** Returns what begins new jobs that are due at once. The store calls it (`Store.startWith`). */
export function beginAtOnce(options: BeginAtOnceOptions): Starter<JobRow> {
  const { handlers, takeSlot, running } = options;
  return {
    of: jobs,
    async begin(tx, rows) {
      const job = rows.find(({ kind }) => handlers[kind].firstStep !== undefined);
      if (job === undefined || job.due_at > tx.now) return undefined;
      const lane = decodeLane(job.lane);
      if (!takeSlot(job, lane)) return undefined;
      running.announce();
      const settle = (how: () => void) => (): void => {
        how();
        running.settle();
      };
      const onUndone = settle(() => running.releaseSlot(lane));
      let taken: TakenJob | undefined;
      try {
        taken = await takeJob(tx, job, options);
      } finally {
        if (taken === undefined) onUndone();
      }
      if (taken === undefined) return undefined;
      return {
        onCommitted: settle(() => running.start(taken, lane)),
        onUndone,
        onOutcomeUnknown: settle(() => running.startIfStored(taken, lane)),
      };
    },
  };
}
