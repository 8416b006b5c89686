/** Conversations. A contact has at most one active conversation on each medium. */
import * as z from "zod";
import { contactReferenceSchema, type ContactReference } from "../contacts/index.ts";
import {
  authorSchema,
  ids,
  mediumSchema,
  messageStatusSchema,
  metadata,
  timestamp,
  type Author,
  type ConversationId,
  type Medium,
  type MessageId,
  type MessageStatus,
  type Metadata,
  type NoteId,
} from "../kernel/index.ts";

/**
 * The status of a conversation. A `snoozed` conversation opens again at a set time, or earlier:
 * with the contact's next message, with a hand-off, or when an agent gets it.
 */
export type ConversationStatus = "open" | "snoozed" | "closed";

export const conversationStatusSchema = z.enum(["open", "snoozed", "closed"]);

/**
 * Who is responsible for a conversation: an agent (`ai`), any available person (`queue`), a person
 * (`human`) or nobody (`none`).
 */
export type Handler = "ai" | "queue" | "human" | "none";

export const handlerSchema = z.enum(["ai", "queue", "human", "none"]);

/** The priority of a conversation. The host application gives it a meaning. */
export type Priority = "low" | "normal" | "high" | "urgent";

export const prioritySchema = z.enum(["low", "normal", "high", "urgent"]);

/** The person or agent that a conversation is assigned to. */
export interface Assignee {
  /** `human`: a person of the host application. `agent`: an AI agent. */
  readonly type: "human" | "agent";
  /** The host application's id of the person, or the id of the agent. */
  readonly id: string;
}

export const assigneeSchema = z
  .strictObject({
    type: z.enum(["human", "agent"]),
    id: z.string(),
  })
  .meta({ id: "Assignee" });

/** The last message of a conversation. */
export interface LastMessage {
  /** The id of the message. */
  readonly id: MessageId;
  /** `outbound`: to the contact. `inbound`: from the contact. */
  readonly direction: "outbound" | "inbound";
  /**
   * The current status. An inbound message is always `received`. In an event, it is the status when
   * the event was written; `message.updated` reports each change.
   */
  readonly status: MessageStatus;
  /** The first 140 characters of the text. Empty in events. */
  readonly preview: string;
  /** When the message is or was due, if it was scheduled or deferred by a policy. Else null. */
  readonly send_at: string | null;
  /** When the message was created. */
  readonly created_at: string;
  /** The `placed_at` of the message. Null while it waits for its time. */
  readonly placed_at: string | null;
}

export const lastMessageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    status: messageStatusSchema,
    preview: z.string(),
    send_at: timestamp.nullable(),
    created_at: timestamp,
    placed_at: timestamp.nullable(),
  })
  .meta({ id: "LastMessage" });

/** The messages between the account and one contact on one medium, until it is closed. */
export interface Conversation {
  /** The id of the conversation. */
  readonly id: ConversationId;
  /** The contact that the conversation is with. */
  readonly contact: ContactReference;
  /** The medium of the conversation. `text` covers SMS and MMS. */
  readonly medium: Medium;
  /** `open`, `snoozed` until `snoozed_until`, or `closed`. */
  readonly status: ConversationStatus;
  /**
   * Who is responsible: an agent (`ai`), any available person (`queue`), a person (`human`) or
   * nobody (`none`).
   */
  readonly handler: Handler;
  /**
   * The person or agent that the conversation is assigned to. An agent stays assigned after a
   * hand-off, so that people can hand the conversation back to it. Null if it is not assigned.
   */
  readonly assignee: Assignee | null;
  /** The labels of the conversation, at most 50. */
  readonly labels: string[];
  /** The priority, `normal` in a new conversation. The host application gives it a meaning. */
  readonly priority: Priority;
  /** When a snoozed conversation opens again. Null unless the status is `snoozed`. */
  readonly snoozed_until: string | null;
  /**
   * The number of messages from the contact since the conversation was last marked as read. At
   * least 1 after it was marked as unread.
   */
  readonly unread_count: number;
  /**
   * Since when the contact waits for a person: since a hand-off, or since its first message that
   * nobody has answered. Null if it does not wait, as while an agent handles the conversation.
   */
  readonly waiting_since: string | null;
  /**
   * The message that was written last, or a scheduled one whose time has come since. Null if there
   * is none.
   */
  readonly last_message: LastMessage | null;
  /** The number of messages, in both directions. Scheduled ones count, too. */
  readonly message_count: number;
  /**
   * True if a message from the contact resembles an opt-out keyword but is not one. It stays true
   * until a person clears it or the contact's consent changes.
   */
  readonly opt_out_suspected: boolean;
  /** The host application's data about the conversation. The engine does not read it. */
  readonly metadata: Metadata;
  /** When the conversation was created. */
  readonly created_at: string;
  /** When the conversation last changed. A new message alone does not count as a change. */
  readonly updated_at: string;
  /** When the conversation was closed. Null unless the status is `closed`. */
  readonly closed_at: string | null;
}

export const conversationSchema = z
  .strictObject({
    id: ids.conversation,
    contact: contactReferenceSchema,
    medium: mediumSchema,
    status: conversationStatusSchema,
    handler: handlerSchema,
    assignee: assigneeSchema.nullable(),
    labels: z.array(z.string()),
    priority: prioritySchema,
    snoozed_until: timestamp.nullable(),
    unread_count: z.int().min(0),
    waiting_since: timestamp.nullable(),
    last_message: lastMessageSchema.nullable(),
    message_count: z.int().min(0),
    opt_out_suspected: z.boolean(),
    metadata,
    created_at: timestamp,
    updated_at: timestamp,
    closed_at: timestamp.nullable(),
  })
  .meta({ id: "Conversation" });

/** A note for the staff of the host application. The contact never sees it. */
export interface Note {
  /** The id of the note. */
  readonly id: NoteId;
  /** Who wrote the note. */
  readonly author: Author;
  /** The text. */
  readonly body: string;
  /** When the note was created. */
  readonly created_at: string;
}

export const noteSchema = z
  .strictObject({
    id: ids.note,
    author: authorSchema,
    body: z.string(),
    created_at: timestamp,
  })
  .meta({ id: "Note" });
