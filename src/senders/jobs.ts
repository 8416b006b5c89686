import { giveTurns } from "../messages/release-throttled.ts";
import { leaseMs } from "../queue/dispatcher.ts";
import type { JobTable } from "../queue/job.ts";
import { inTransaction } from "../queue/transactional-jobs.ts";

export const senderJobs: Pick<JobTable, "throttle"> = {
  throttle: inTransaction((tx, claim) => giveTurns(tx, claim, leaseMs)),
};
