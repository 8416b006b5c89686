export { bestOf, type SendClass, sendClasses, pickByClass } from "./classes.ts";
export { Semaphore, Signal } from "./concurrency.ts";
export { Dispatcher } from "./dispatcher.ts";
export { leaseMs } from "./take-job.ts";
export { EngineRegister } from "./engine-register.ts";
export { FailureLog } from "./failure-log.ts";
export { findIdleJob, firstDueAt, type Runnable } from "./due-jobs.ts";
export { inChunks, inTransaction, retry } from "./handlers.ts";
export {
  type Claim,
  classOf,
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
  isRearmed,
  finish,
  type JobRow,
  jobs,
  jobsByLane,
  moveToClass,
  moveToUsualLane,
  prefetchJob,
  rememberJob,
  currentLane,
  renew,
} from "./rows.ts";
