export { queueModule } from "./descriptor.ts";
export { Dispatcher, leaseMs } from "./dispatcher.ts";
export { errorFacts } from "./error-facts.ts";
export { encodeJobKey } from "./job-key.ts";
export type { JobHandler, JobHandlers, JobRun, JobTable } from "./job.ts";
export { encodeLane, type Lane, poolOf, pools } from "./lane.ts";
export { retry } from "./retry.ts";
export {
  arm,
  armNew,
  disarm,
  findJob,
  finish,
  isInLane,
  type JobRow,
  jobs,
  jobsByLane,
  moveToUsualLane,
  renew,
} from "./rows.ts";
export { Semaphore } from "./semaphore.ts";
export { Signal } from "./signal.ts";
export { inChunks, inTransaction } from "./transactional-jobs.ts";
export type { Claim, JobKind, JobOrder } from "./types.ts";
