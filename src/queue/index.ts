export { bestClass, bestOf, type JobClass, jobClasses, pickByClass } from "./jobs/classes.ts";
export { WakeFlag } from "./wake-flag.ts";
export { Dispatcher } from "./dispatcher/dispatcher.ts";
export { missingOptions, type ComparedOptions } from "./compare-options.ts";
export { EngineRegister } from "./engine-register.ts";
export { FailureLog } from "./failure-log.ts";
export { Follower, type Step } from "./follower.ts";
export { findUnattendedJob, firstDueAt, type RunnableJobs } from "./dispatcher/due-times.ts";
export { inChunks, inTransaction, type ChunkResult, runChunks } from "./handlers.ts";
export { checkUnansweredCommit, keepOrUndo, mayPass, retry, retryWhileLeased } from "./retry.ts";
export type {
  Claim,
  FirstStep,
  JobHandler,
  JobHandlers,
  JobOrder,
  JobRun,
  JobTable,
} from "./jobs/job.ts";
export { encodeJobKey, type JobKeys, type JobKind } from "./jobs/job-kinds.ts";
export {
  classOf,
  encodeLane,
  type Lane,
  poolOf,
  pools,
  remoteOf,
  waitingForOf,
} from "./jobs/lane.ts";
export { countWaiting } from "./jobs/count-waiting.ts";
export { arm, disarm, disarmLane } from "./jobs/arm.ts";
export { findJob, type JobRow, jobs, jobsByLane, prefetchJob, rememberJob } from "./jobs/rows.ts";
export {
  isRearmed,
  finish,
  leaseMs,
  moveToClass,
  moveToUsualLane,
  currentLane,
  renew,
} from "./jobs/lease.ts";
