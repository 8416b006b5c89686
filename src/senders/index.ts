export { chooseSender, type SenderRequest, usableSenders } from "./choose-sender.ts";
export { createSandboxSenders, sandboxAddress, sandboxInbox } from "./sandbox-senders.ts";
export {
  defaultSenderByChannel,
  liveSenderByAddress,
  sandboxSendersByAddress,
  throttleByAddress,
  senderByAddress,
  senderById,
  type SenderRow,
} from "./rows.ts";
export { sendLane } from "./job-orders.ts";
export { checkThrottle, recordHandOver } from "./throttle.ts";
export type { CreateSender, Sender, UpdateSender } from "./types.ts";
