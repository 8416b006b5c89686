export { Semaphore, Signal } from "./concurrency.ts";
export { Dispatcher, leaseMs } from "./dispatcher.ts";
export { errorFacts, inChunks, inTransaction, retry } from "./handlers.ts";
export { encodeJobKey } from "./job-key.ts";
export { encodeLane, type Lane, poolOf, pools } from "./lane.ts";
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
export type {
  Claim,
  JobHandler,
  JobHandlers,
  JobKind,
  JobOrder,
  JobRun,
  JobTable,
} from "./types.ts";
