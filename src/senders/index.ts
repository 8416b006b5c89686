export { chooseSender } from "./choose.ts";
export { createSender } from "./create.ts";
export { sendersModule } from "./descriptor.ts";
export { freeSlot } from "./free-slot.ts";
export { listSenders } from "./reads.ts";
export { removeSender } from "./remove.ts";
export {
  defaultSenderByChannel,
  liveSenderByAddress,
  paceByAddress,
  type PaceRow,
  senderByAddress,
  senderById,
  senderHandOvers,
  senderPaces,
  type SenderRow,
} from "./rows.ts";
export { createSandboxSenders, sandboxAddress, sandboxInbox } from "./sandbox-senders.ts";
export { sendLane } from "./send-lane.ts";
export { boundsOf, looksBack } from "./throttle-rules.ts";
export { takeTurn, turnAt, turnOf, waitingLane } from "./throttle.ts";
export type { CreateSender, Sender, UpdateSender } from "./types.ts";
export { updateSender } from "./update.ts";
