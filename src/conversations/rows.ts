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
  type RowOf,
  scoped,
  text,
  time,
} from "../ports/index.ts";
import {
  type ConversationStatus,
  conversationStatusSchema,
  type Handler,
  type Priority,
} from "./types.ts";

export const conversations = scoped("conversations", {
  id: text<ConversationId>(),
  contact_id: text<ContactId>(),
  medium: text<Medium>(),
  status: text<ConversationStatus>(),
  /**
   * The contact's last conversation on the medium: the active one, or else the one that an inbound may open again. Null for those before
   * it, which stay closed.
   */
  current: nullable(boolean<true>()),
  handler: text<Handler>(),
  assignee_type: nullable(text<"human" | "agent">()),
  assignee_id: nullable(text()),
  labels: json<readonly string[]>(),
  priority: text<Priority>(),
  snoozed_until: nullable(time()),
  unread_count: integer(),
  /** Whether there are any. Null where not, as below: an index over those that stand out has no others. */
  unread: nullable(boolean<true>()),
  opt_out_suspected: nullable(boolean<true>()),
  /** Also the sequence number of its last message: they have no gaps. */
  message_count: integer(),
  last_message_id: nullable(text<MessageId>()),
  /** When the last message came or went; at first, when it began. The inbox is in this order. */
  last_activity_at: time(),
  metadata: json<Readonly<Record<string, string>>>(),
  created_at: time(),
  updated_at: time(),
  closed_at: nullable(time()),
});
export interface ConversationRow extends RowOf<typeof conversations> {}

export const conversationById = conversations.key("id");
/** One current conversation, so one active one, for each contact and medium, whatever races. */
export const currentConversation = conversations.byId.unique("current", ["contact_id", "medium"], {
  where: { column: "current", present: true },
});
export const conversationsOfContact = conversations.byId.index("by_contact", ["contact_id", "id"]);

/**
 * The inbox: the newest activity of each status first; all statuses together are a merge of theirs. Every message moves its conversation
 * in it, so it is the only index over all of them; the others have but those that stand out. That it has every status is said so that no
 * database takes it for one of those, whose order it shares.
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
export const inboxSuspected = conversations.index("suspected", ["status", "last_activity_at"], {
  where: { column: "opt_out_suspected", present: true },
});

/** A label of a conversation, with what orders the inbox. Both are written together, by `commands/steps/write-conversation`. */
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

/** What the host's people write to each other about a conversation. */
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
