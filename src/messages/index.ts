export { acceptMessage, writeMessage } from "./accept.ts";
export { takeReceipts } from "./apply-receipt.ts";
export { heedRefusal } from "./apply-refusal.ts";
export { cancelMessage } from "./cancel.ts";
export { type CarrierRuntime, carriersOf } from "./carriers.ts";
export { messagesModule } from "./descriptor.ts";
export { editMessage } from "./edit.ts";
export { messageFailed, messageReceived, messageSent, messageUpdated } from "./events.ts";
export { findCorrespondent } from "./find-correspondent.ts";
export { onMessageReceived } from "./hooks.ts";
export { isMessageInProgress } from "./in-progress.ts";
export { messageJobs } from "./jobs.ts";
export { listContactMessages } from "./list-of-contact.ts";
export { listConversationMessages } from "./list-of-conversation.ts";
export { moveMessage } from "./move.ts";
export { previewMessage } from "./preview.ts";
export { getMessage, getTimeline, listMessages } from "./reads.ts";
export { takeInMessage } from "./receive.ts";
export { reply } from "./reply.ts";
export { messageResource } from "./resource.ts";
export {
  attempts,
  attemptsOfMessage,
  inboundIds,
  messageById,
  type MessageRow,
  messages,
  messagesOfContact,
  messagesOfConversation,
  parkedReceipts,
  parkedReceiptsByExpiry,
  timeline,
} from "./rows.ts";
export { carried, channelOf } from "./rules.ts";
export { segmentsOf } from "./segments.ts";
export { sendBatch } from "./send-batch.ts";
export { sendMessage } from "./send.ts";
export { stateOf } from "./state.ts";
export { receiptStatusSchema, type Timeline, type TimelineEntry } from "./timeline-types.ts";
export { transportSink } from "./transport-sink.ts";
export { startTransports, stopTransports } from "./transports.ts";
export {
  type BatchMessages,
  type BatchResult,
  type BatchResults,
  type Draft,
  type EditMessage,
  hasMedia,
  type ListMessages,
  mediaSchema,
  type Message,
  type MessageError,
  type MessagePreview,
  messageSchema,
  type MessageStatus,
  needsContent,
  type PreviewMessage,
  type Reply,
  type Segments,
  type SendMessage,
} from "./types.ts";
export { writeTimeline } from "./write-timeline.ts";
