export { addNote } from "./add-note.ts";
export {
  beginConversation,
  findConversation,
  isActive,
  openForInbound,
  takePlace,
} from "./begin.ts";
export {
  changeConversation,
  findActiveConversation,
  findOwnConversation,
  superseded,
} from "./change.ts";
export { conversationsModule } from "./descriptor.ts";
export { conversationClosed, conversationCreated, conversationUpdated } from "./events.ts";
export { getConversation } from "./get.ts";
export { conversationJobs } from "./jobs.ts";
export { listNotes } from "./list-notes.ts";
export { listContactConversations } from "./list-of-contact.ts";
export { listConversations } from "./list.ts";
export { readConversation } from "./mark-read.ts";
export { openConversation } from "./open.ts";
export { assigneeOf, contactAddress } from "./resource.ts";
export {
  conversationById,
  conversationLabels,
  type ConversationRow,
  conversations,
  conversationsOfContact,
  currentConversation,
  notes,
} from "./rows.ts";
export { changeStatus, handlerOnAssign, handlerOnHandBack, kept } from "./rules.ts";
export { labelConversation } from "./set-labels.ts";
export { showConversation } from "./show.ts";
export {
  type AddNote,
  type AssignConversation,
  assignConversationSchema,
  type Assignee,
  type Conversation,
  conversationSchema,
  type ConversationStatus,
  type Handler,
  type HandOffConversation,
  handOffConversationSchema,
  type ListConversations,
  type Note,
  type OpenConversation,
  person,
  type Priority,
  type ThreadQuery,
  threadQuerySchema,
  type UpdateConversation,
} from "./types.ts";
export { updateConversation } from "./update.ts";
export { writeConversation } from "./write.ts";
export { contactActivity } from "./contact-activity.ts";
