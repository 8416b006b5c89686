export { Semaphore, Signal } from "./concurrency.ts";
export { Dispatcher, leaseMs } from "./dispatcher.ts";
export { findIdleJob, firstDueAt, type Runnable } from "./due-jobs.ts";
export { inChunks, inTransaction, retry } from "./handlers.ts";
export {
  type Claim,
  encodeJobKey,
  encodeLane,
  type BeginJob,
  type JobHandler,
  type JobHandlers,
  type JobKind,
  type JobOrder,
  type JobRun,
  type JobTable,
  type Lane,
  poolOf,
  pools,
} from "./job.ts";
export { countWaiting, type WaitingJobs } from "./waiting.ts";
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
