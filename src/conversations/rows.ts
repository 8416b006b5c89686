import type {
  Author,
  ContactId,
  ConversationId,
  Medium,
  MessageId,
  NoteId,
} from "../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  scoped,
  text,
  time,
  type RowOf,
} from "../ports/index.ts";
import type { Wait } from "./rules.ts";
import {
  conversationStatusSchema,
  type ConversationStatus,
  type Handler,
  type Priority,
} from "./types.ts";

export const conversations = scoped("conversations", {
  id: text<ConversationId>(),
  contact_id: text<ContactId>(),
  medium: text<Medium>(),
  status: text<ConversationStatus>(),
  /**
   * True for the contact's latest conversation on the medium: the active one, or the closed one
   * that an inbound message may reopen. Null for earlier ones, which stay closed.
   */
  current: nullable(boolean<true>()),
  handler: text<Handler>(),
  assignee_type: nullable(text<"human" | "agent">()),
  assignee_id: nullable(text()),
  labels: json<readonly string[]>(),
  priority: text<Priority>(),
  snoozed_until: nullable(time()),
  unread_count: integer(),
  /**
   * Whether there are unread messages. Null means no, so that the partial index holds only unread
   * conversations. The same applies to the next flag.
   */
  unread: nullable(boolean<true>()),
  opt_out_suspected: nullable(boolean<true>()),
  /**
   * Until when people have read: the contact's messages that were created by then, and no others.
   * Null before the first time.
   */
  read_at: nullable(time()),
  /** Whether the contact has written in this conversation. */
  contact_wrote: boolean(),
  /** `rules.ts` derives this column and the next two. */
  unassigned: nullable(boolean<true>()),
  /** Why the contact waits for a person. Hand-offs sort first. */
  waiting_for: nullable(text<Wait>()),
  waiting_since: nullable(time()),
  message_count: integer(),
  /**
   * How often a message has taken a later place in the thread. Each time, it took the next number
   * (`lastSequence`). Null means never: a conversation without such messages never writes it.
   */
  moved_count: nullable(integer()),
  /** The message that was written last, or that took its place after that. */
  last_message_id: nullable(text<MessageId>()),
  /**
   * The time of the last message in either direction, or of the start. The inbox is in this order.
   */
  last_activity_at: time(),
  metadata: json<Readonly<Record<string, string>>>(),
  created_at: time(),
  updated_at: time(),
  closed_at: nullable(time()),
});
export interface ConversationRow extends RowOf<typeof conversations> {}

export const conversationById = conversations.key("id");
/**
 * At most one current conversation, and so at most one active one, for each contact and medium,
 * even when requests race.
 */
export const currentConversation = conversations.byId.unique("current", ["contact_id", "medium"], {
  where: { column: "current", present: true },
});
export const conversationsOfContact = conversations.byId.index("by_contact", ["contact_id", "id"]);

/**
 * The inbox: the newest activity of each status first. A list of all statuses merges their ranges.
 * Every message moves its conversation in this index, so it is the only one over all conversations;
 * the others are partial. The condition on `status` is always true. It keeps a database from
 * confusing this index with a partial one of the same order.
 */
export const inbox = conversations.index("inbox", ["status", "last_activity_at"], {
  where: { column: "status", in: conversationStatusSchema.options },
});
export const inboxByAssignee = conversations.index(
  "by_assignee",
  ["status", "assignee_id", "last_activity_at"],
  { where: { column: "assignee_id", present: true } },
);
export const inboxByHandler = conversations.index(
  "by_handler",
  ["status", "handler", "last_activity_at"],
  { where: { column: "handler", in: ["ai", "queue", "human"] } },
);
export const inboxUnread = conversations.index("unread", ["status", "last_activity_at"], {
  where: { column: "unread", present: true },
});
export const inboxByPriority = conversations.index(
  "by_priority",
  ["status", "priority", "last_activity_at"],
  { where: { column: "priority", in: ["low", "high", "urgent"] } },
);
export const inboxUnassigned = conversations.index("unassigned", ["status", "last_activity_at"], {
  where: { column: "unassigned", present: true },
});
/** Conversations that wait for a person: hand-offs first, then the longest wait. */
export const inboxWaiting = conversations.index(
  "waiting",
  ["status", "waiting_for", "waiting_since"],
  { where: { column: "waiting_for", present: true } },
);
export const inboxSuspected = conversations.index("suspected", ["status", "last_activity_at"], {
  where: { column: "opt_out_suspected", present: true },
});

/**
 * A label of a conversation, with the columns that order the inbox. `writeConversation` writes both
 * together.
 */
export const conversationLabels = scoped("conversation_labels", {
  label: text(),
  conversation_id: text<ConversationId>(),
  status: text<ConversationStatus>(),
  last_activity_at: time(),
});
export interface ConversationLabelRow extends RowOf<typeof conversationLabels> {}

export const conversationLabelByName = conversationLabels.key("label", "conversation_id");
export const inboxByLabel = conversationLabels.index("by_activity", [
  "label",
  "status",
  "last_activity_at",
]);

/** Notes that people of the host application write about a conversation. */
export const notes = scoped("notes", {
  conversation_id: text<ConversationId>(),
  id: text<NoteId>(),
  author_type: text<Author["type"]>(),
  author_id: nullable(text()),
  body: text(),
  created_at: time(),
});
export interface NoteRow extends RowOf<typeof notes> {}

export const noteById = notes.key("conversation_id", "id");
