export { chooseSender } from "./choose-sender.ts";
export {
  defaultSenderByChannel,
  liveSenderByAddress,
  throttleByAddress,
  type ThrottleRow,
  senderByAddress,
  senderById,
  senderHandOvers,
  senderThrottles,
  type SenderRow,
} from "./rows.ts";
export { createSandboxSenders, sandboxAddress, sandboxInbox } from "./sandbox-senders.ts";
export {
  boundsOf,
  countedHandOvers,
  sendLane,
  recordHandOver,
  nextHandOverAt,
  checkThrottle,
  waitingLane,
} from "./throttle.ts";
export type { CreateSender, Sender, UpdateSender } from "./types.ts";
