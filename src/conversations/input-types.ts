/** The inputs of the operations on conversations. */
import * as z from "zod";
import { labelList } from "../contacts/index.ts";
import {
  channelSchema,
  filterById,
  instant,
  isId,
  isObjectGiven,
  mediumSchema,
  metadataInput,
  name,
  pageFields,
  pageQuerySchema,
  queryBoolean,
  recipientSchema,
  reference,
  text,
  withId,
  type ById,
  type Channel,
  type Limits,
  type Medium,
  type Metadata,
  type PageQuery,
} from "../kernel/index.ts";
import {
  assigneeSchema,
  conversationStatusSchema,
  handlerSchema,
  prioritySchema,
  type Assignee,
  type ConversationStatus,
  type Handler,
  type Priority,
} from "./types.ts";

/** The id that the host application uses for one of its people. */
export const person: z.ZodString = name(200);

/** Filters of the inbox. A conversation is shown if it passes all of them. */
export interface InboxFilters {
  /** Only conversations with this status. All statuses by default. */
  readonly status?: ConversationStatus | undefined;
  /** Only conversations with this handler. */
  readonly handler?: Handler | undefined;
  /** Only conversations that are assigned to the person or agent with this id. */
  readonly assignee?: string | undefined;
  /** Only conversations with this label. */
  readonly label?: string | undefined;
  /** Only conversations on the medium of this channel. SMS and MMS share conversations. */
  readonly channel?: Channel | undefined;
  /** Only conversations with this priority. */
  readonly priority?: Priority | undefined;
  /**
   * Only conversations that are assigned to no person and handled by no agent (`true`), or the
   * others (`false`). Conversations in which only you have written are among the others until the
   * contact writes.
   */
  readonly unassigned?: boolean | undefined;
  /**
   * Only conversations in which the contact waits (`true`) or does not wait (`false`) for a person.
   * A list of those that wait has hand-offs first, and then the longest wait.
   */
  readonly waiting?: boolean | undefined;
  /** Only conversations with (`true`) or without (`false`) unread messages. */
  readonly unread?: boolean | undefined;
  /** Only conversations with (`true`) or without (`false`) a suspected opt-out. */
  readonly opt_out_suspected?: boolean | undefined;
}

export const inboxFilterFields = {
  status: conversationStatusSchema.optional(),
  handler: handlerSchema.optional(),
  assignee: reference.optional(),
  label: reference.optional(),
  channel: channelSchema.optional(),
  priority: prioritySchema.optional(),
  unassigned: queryBoolean.optional(),
  waiting: queryBoolean.optional(),
  unread: queryBoolean.optional(),
  opt_out_suspected: queryBoolean.optional(),
};

/** A list of the inbox. */
export interface ListConversations extends PageQuery, InboxFilters {
  /** Only conversations of this contact, newest start first. */
  readonly contact_id?: string | undefined;
}

export const listConversationsSchema = z
  .strictObject({
    ...pageFields,
    ...inboxFilterFields,
    contact_id: filterById("contact").optional(),
  })
  .meta({ interface: "ListConversations" });

/** The contact and the medium of a conversation to open. */
export interface OpenConversation {
  /**
   * A phone number in E.164 format, or the id of a contact. On webchat, always the id of a contact.
   */
  readonly to: string;
  /**
   * The medium of the conversation. `text` covers SMS and MMS.
   * @default "text"
   */
  readonly medium?: Medium | undefined;
}

export const openConversationSchema = z
  .strictObject({
    to: recipientSchema,
    medium: mediumSchema.optional().meta({ default: "text" }),
  })
  .refine(({ to, medium }) => medium !== "webchat" || !to.startsWith("+"), {
    path: ["to"],
    error: "must be a contact's id when the medium is webchat",
  })
  .meta({ id: "OpenConversation" });

/** Changes to a conversation. An absent field keeps its value. */
export interface UpdateConversation {
  /** The new status. A closed conversation can be opened unless a newer one has replaced it. */
  readonly status?: ConversationStatus | undefined;
  /**
   * Required with the status `snoozed`: when the conversation reopens, at most 366 days ahead. It
   * reopens earlier with a message from the contact, with a hand-off, or when an agent gets it.
   */
  readonly snoozed_until?: string | undefined;
  /** The new priority. The host application gives it a meaning. */
  readonly priority?: Priority | undefined;
  /** Replaces all existing metadata. */
  readonly metadata?: Metadata | undefined;
  /** Clears the flag after a person has checked the conversation. */
  readonly opt_out_suspected?: false | undefined;
}

export const updateConversationSchema = (limits: Limits) =>
  z
    .strictObject({
      status: conversationStatusSchema.optional(),
      snoozed_until: instant.optional(),
      priority: prioritySchema.optional(),
      metadata: metadataInput(limits).optional(),
      opt_out_suspected: z.literal(false).optional(),
    })
    .refine(
      ({ status, snoozed_until }) => (status === "snoozed") === (snoozed_until !== undefined),
      {
        path: ["snoozed_until"],
        error: "is required with the status snoozed and not allowed with another status",
        when: isObjectGiven,
      },
    )
    .meta({ id: "UpdateConversation" });

/** The new assignment of a conversation. */
export interface AssignConversation {
  /** The id of the conversation. */
  readonly id: string;
  /** The person or agent that takes the conversation. Null removes the assignment. */
  readonly assignee: Assignee | null;
}

export const assignConversationSchema = z
  .strictObject({
    id: reference,
    assignee: z
      .strictObject({ type: assigneeSchema.shape.type, id: person })
      .meta({ interface: "Assignee" })
      .refine(({ type, id }) => type === "human" || isId("agt", id), {
        path: ["id"],
        error: "must be an agent's id",
      })
      .nullable(),
  })
  .meta({ id: "AssignConversation" });

/** The new labels of a conversation. */
export interface LabelConversation {
  /** The complete list of labels: at most 50 different ones of at most 64 characters each. */
  readonly labels: readonly string[];
}

export const labelConversationSchema = z
  .strictObject({ labels: labelList })
  .meta({ id: "LabelConversation" });

/** Why a conversation is handed off to people. The event `conversation.handoff` repeats it. */
export interface HandOffConversation {
  /** The reason, at most 200 characters. */
  readonly reason: string;
  /** What the person who takes over should know, at most 2,000 characters. */
  readonly summary?: string | undefined;
}

export const handOffConversationSchema = z
  .strictObject({
    reason: name(200),
    summary: text(2_000).optional(),
  })
  .meta({ id: "HandOffConversation" });

/** The input of a list of a conversation's messages or notes. */
export const threadQuerySchema: z.ZodType<PageQuery & ById> = withId(
  pageQuerySchema,
  "The id of the conversation.",
);

/** A note to add to a conversation. The contact never sees it. */
export interface AddNote {
  /** The text, at most 10,000 characters. */
  readonly body: string;
  /** The id that the host application uses for the author. */
  readonly author_id?: string | undefined;
}

export const addNoteSchema = z
  .strictObject({
    body: name(10_000),
    author_id: person.optional(),
  })
  .meta({ id: "AddNote" });
