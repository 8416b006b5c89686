export { beginConversation, findConversation, isActive, openForInbound } from "./begin.ts";
export { onConversationReopened } from "./commands.ts";
export { queueTimeoutJob } from "./job-orders.ts";
export {
  changeConversation,
  placeLast,
  updateForMessage,
  touchActiveConversation,
  touchConversation,
  supersededError,
  writeConversation,
} from "./write.ts";
export {
  conversationClosed,
  type ConversationClosedData,
  conversationCreated,
  type ConversationCreatedData,
  conversationUpdated,
  type ConversationUpdatedData,
} from "./events.ts";
export {
  isOutsideThread,
  lastSequence,
  placedAt,
  placeNumber,
  waitingPlace,
  firstNumber,
} from "./places.ts";
export { conversationFilter, findLabelled } from "./list-inbox.ts";
export { contactActivity } from "./reads.ts";
export {
  assigneeOf,
  contactAddress,
  conversationOfEvent,
  showConversation,
  showConversations,
} from "./show.ts";
export {
  conversationById,
  conversationLabels,
  type ConversationRow,
  conversations,
  conversationsOfContact,
  currentConversation,
  notes,
} from "./rows.ts";
export { changeStatus, handlerOnAssign, handlerOnHandBack, statusPatch } from "./rules.ts";
export {
  type AddNote,
  type AssignConversation,
  assignConversationSchema,
  type HandOffConversation,
  handOffConversationSchema,
  type InboxFilters,
  inboxFilterFields,
  type ListConversations,
  type OpenConversation,
  person,
  threadQuerySchema,
  type UpdateConversation,
} from "./input-types.ts";
export {
  type Assignee,
  type Conversation,
  conversationSchema,
  type ConversationStatus,
  type Handler,
  type LastMessage,
  type Note,
  type Priority,
} from "./types.ts";
