import type { AccountId, ContactId, ConversationId, MessageId } from "../../ids.ts";
import { collection, integer, json, nullable, text, time } from "../../ports/collection.ts";
import type { Mode } from "../../scope.ts";
import type { Medium } from "../../fields.ts";

export interface ConversationRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: ConversationId;
  readonly contact_id: ContactId;
  readonly medium: Medium;
  readonly status: "open" | "snoozed" | "closed";
  readonly handler: "ai" | "queue" | "human" | "none";
  readonly assignee_type: "human" | "agent" | null;
  readonly assignee_id: string | null;
  readonly labels: readonly string[];
  readonly priority: "low" | "normal" | "high" | "urgent";
  readonly snoozed_until: number | null;
  readonly unread_count: number;
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
  handler: text,
  assignee_type: nullable(text),
  assignee_id: nullable(text),
  labels: json,
  priority: text,
  snoozed_until: nullable(time),
  unread_count: integer,
  message_count: integer,
  last_message_id: nullable(text),
  last_activity_at: time,
  metadata: json,
  created_at: time,
  updated_at: time,
  closed_at: nullable(time),
});
export const conversationById = conversations.key("account_id", "mode", "id");
/** One active conversation for each contact and medium, whatever races. */
export const activeConversation = conversations.unique("active", ["contact_id", "medium"], {
  where: { column: "status", in: ["open", "snoozed"] },
});
export const conversationsByActivity = conversations.index("by_activity", ["account_id", "mode", "last_activity_at"]);
