import type { AccountId, ContactId, ConversationId, MessageId, NoteId } from "../kernel/ids.ts";
import { boolean, collection, integer, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Medium, Author } from "../kernel/fields.ts";
import {
  type ConversationStatus,
  conversationStatusSchema,
  type Handler,
  type Priority,
} from "./types.ts";

export interface ConversationRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: ConversationId;
  readonly contact_id: ContactId;
  readonly medium: Medium;
  readonly status: ConversationStatus;
  /**
   * The contact's last conversation on the medium: the active one, or else the one that an inbound may open again. Null for those before
   * it, which stay closed.
   */
  readonly current: true | null;
  readonly handler: Handler;
  readonly assignee_type: "human" | "agent" | null;
  readonly assignee_id: string | null;
  readonly labels: readonly string[];
  readonly priority: Priority;
  readonly snoozed_until: number | null;
  readonly unread_count: number;
  /** Whether there are any. Null where not, as below: an index over those that stand out has no others. */
  readonly unread: true | null;
  readonly opt_out_suspected: true | null;
  /** Also the sequence number of its last message: they have no gaps. */
  readonly message_count: number;
  readonly last_message_id: MessageId | null;
  /** When the last message came or went; at first, when it began. The inbox is in this order. */
  readonly last_activity_at: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: number;
  readonly updated_at: number;
  readonly closed_at: number | null;
}

export const conversations = collection<ConversationRow>("conversations", {
  account_id: text,
  mode: text,
  id: text,
  contact_id: text,
  medium: text,
  status: text,
  current: nullable(boolean),
  handler: text,
  assignee_type: nullable(text),
  assignee_id: nullable(text),
  labels: json,
  priority: text,
  snoozed_until: nullable(time),
  unread_count: integer,
  unread: nullable(boolean),
  opt_out_suspected: nullable(boolean),
  message_count: integer,
  last_message_id: nullable(text),
  last_activity_at: time,
  metadata: json,
  created_at: time,
  updated_at: time,
  closed_at: nullable(time),
});
export const conversationById = conversations.key("account_id", "mode", "id");
/** One current conversation, so one active one, for each contact and medium, whatever races. */
export const currentConversation = conversations.unique("current", ["contact_id", "medium"], {
  where: { column: "current", present: true },
});
export const conversationsOfContact = conversations.index("by_contact", ["contact_id", "id"]);

/**
 * The inbox: the newest activity of each status first; all statuses together are a merge of theirs. Every message moves its conversation
 * in it, so it is the only index over all of them; the others have but those that stand out. That it has every status is said so that no
 * database takes it for one of those, whose order it shares.
 */
export const inbox = conversations.index(
  "inbox",
  ["account_id", "mode", "status", "last_activity_at"],
  {
    where: { column: "status", in: conversationStatusSchema.options },
  },
);
export const inboxByAssignee = conversations.index(
  "by_assignee",
  ["account_id", "mode", "status", "assignee_id", "last_activity_at"],
  { where: { column: "assignee_id", present: true } },
);
export const inboxByHandler = conversations.index(
  "by_handler",
  ["account_id", "mode", "status", "handler", "last_activity_at"],
  { where: { column: "handler", in: ["ai", "queue", "human"] } },
);
export const inboxUnread = conversations.index(
  "unread",
  ["account_id", "mode", "status", "last_activity_at"],
  {
    where: { column: "unread", present: true },
  },
);
export const inboxSuspected = conversations.index(
  "suspected",
  ["account_id", "mode", "status", "last_activity_at"],
  {
    where: { column: "opt_out_suspected", present: true },
  },
);

/** A label of a conversation, with what orders the inbox. Both are written together, by `commands/steps/write-conversation`. */
export interface ConversationLabelRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly label: string;
  readonly conversation_id: ConversationId;
  readonly status: ConversationStatus;
  readonly last_activity_at: number;
}

export const conversationLabels = collection<ConversationLabelRow>("conversation_labels", {
  account_id: text,
  mode: text,
  label: text,
  conversation_id: text,
  status: text,
  last_activity_at: time,
});
export const conversationLabelByName = conversationLabels.key(
  "account_id",
  "mode",
  "label",
  "conversation_id",
);
export const inboxByLabel = conversationLabels.index("by_activity", [
  "account_id",
  "mode",
  "label",
  "status",
  "last_activity_at",
]);

/** What the host's people write to each other about a conversation. */
export interface NoteRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly conversation_id: ConversationId;
  readonly id: NoteId;
  readonly author_type: Author["type"];
  readonly author_id: string | null;
  readonly body: string;
  readonly created_at: number;
}

export const notes = collection<NoteRow>("notes", {
  account_id: text,
  mode: text,
  conversation_id: text,
  id: text,
  author_type: text,
  author_id: nullable(text),
  body: text,
  created_at: time,
});
export const noteById = notes.key("account_id", "mode", "conversation_id", "id");
