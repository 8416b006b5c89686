export { writeMessage } from "./sending/accept-message.ts";
export { applyReceipts } from "./receipts/apply-receipt.ts";
export {
  messageFailed,
  type MessageFailedData,
  messageReceived,
  type MessageReceivedData,
  messageRedacted,
  type MessageRedactedData,
  messageSent,
  type MessageSentData,
  messageUpdated,
  type MessageUpdatedData,
} from "./events.ts";
export { onMessageReceived, receiveMessage } from "./inbound/receive.ts";
export { sendInConversation } from "./sending/reply.ts";
export { isMessageInProgress } from "./reads.ts";
export { messageResource } from "./show.ts";
export { removeWords } from "./search/search-words.ts";
export { writeState, writeTimeline } from "./write-state.ts";
export { stateOf } from "./stored-state.ts";
export {
  attempts,
  attemptsOfMessage,
  inboundIds,
  messageById,
  type MessageRow,
  messages,
  messagesByAuthor,
  messagesOfContact,
  messagesOfConversation,
  earlyReceipts,
  earlyReceiptsByExpiry,
  timeline,
  webchatMessagesOfContact,
} from "./rows.ts";
export { channelOf } from "./rules.ts";
export { join } from "./attempts/evidence.ts";
export { segmentsOf } from "./segments.ts";
export {
  type IgnoredReason,
  type ReceiptStatus,
  receiptStatusSchema,
  type Timeline,
  type TimelineAttempt,
  type TimelineEdit,
  type TimelineEntry,
  type TimelineLookup,
  type TimelinePolicy,
  type TimelineReceipt,
  type TimelineRedaction,
  type TimelineTransition,
} from "./timeline/timeline-types.ts";
export type { ConversationMatch, SearchConversations } from "./search/search-types.ts";
export { recordCallback } from "./transports/record-reports.ts";
export { startTransports, stopTransports, undoStart } from "./transports/start-transports.ts";
export {
  type BatchFailure,
  type BatchMessages,
  type BatchResult,
  type BatchResults,
  type BatchSuccess,
} from "./sending/batch-types.ts";
export {
  type BatchMessage,
  type EditMessage,
  hasContent,
  type ListMessages,
  needsContent,
  type PreviewMessage,
  type Reply,
  type SendMessage,
} from "./input-types.ts";
export {
  type Category,
  mediaSchema,
  type Message,
  type MessageError,
  messageSchema,
  type Segments,
} from "./types.ts";
export type { MessagePreview } from "./sending/preview-types.ts";
