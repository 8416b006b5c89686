export { chooseSender, prefetchSender, rememberSender, usableSenders } from "./choose-sender.ts";
export { createSandboxSenders, sandboxAddress, sandboxInbox } from "./sandbox-senders.ts";
export {
  defaultSenderByChannel,
  liveSenderByAddress,
  sandboxSendersByAddress,
  throttleByAddress,
  type ThrottleRow,
  senderByAddress,
  senderById,
  senderHandOvers,
  senderThrottles,
  type SenderRow,
} from "./rows.ts";
export {
  boundsOf,
  countedHandOvers,
  sendLane,
  recordHandOver,
  nextHandOverAt,
  prefetchThrottle,
  checkThrottle,
  waitingLane,
} from "./throttle.ts";
export type { CreateSender, Sender, UpdateSender } from "./types.ts";
