/** Conversations. A contact has at most one active conversation on each medium. */
import { z } from "zod";
import {
  authorSchema,
  channelSchema,
  ids,
  instant,
  isId,
  type Limits,
  mediumSchema,
  metadata,
  metadataInput,
  name,
  pageFields,
  queryBoolean,
  recipientSchema,
  reference,
  text,
  timestamp,
} from "../kernel/index.ts";
import { contactReferenceSchema, label } from "../contacts/index.ts";

export const conversationStatusSchema = z.enum(["open", "snoozed", "closed"]);
export type ConversationStatus = z.infer<typeof conversationStatusSchema>;

export const handlerSchema = z.enum(["ai", "queue", "human", "none"]);
export type Handler = z.infer<typeof handlerSchema>;

export const prioritySchema = z.enum(["low", "normal", "high", "urgent"]);
export type Priority = z.infer<typeof prioritySchema>;

export const assigneeSchema = z
  .strictObject({ type: z.enum(["human", "agent"]), id: z.string() })
  .meta({ id: "Assignee" });
export interface Assignee extends z.infer<typeof assigneeSchema> {}

export const lastMessageSchema = z
  .strictObject({
    id: ids.message,
    direction: z.enum(["outbound", "inbound"]),
    preview: z.string().describe("The first 140 characters. Empty in events."),
    created_at: timestamp,
  })
  .meta({ id: "LastMessage" });
export interface LastMessage extends z.infer<typeof lastMessageSchema> {}

export const conversationSchema = z
  .strictObject({
    id: ids.conversation,
    contact: contactReferenceSchema,
    medium: mediumSchema,
    status: conversationStatusSchema,
    handler: handlerSchema.describe(
      "Who replies: an agent (`ai`), any available person (`queue`), a person (`human`) or " +
        "nobody (`none`).",
    ),
    assignee: assigneeSchema.nullable(),
    labels: z.array(z.string()),
    priority: prioritySchema,
    snoozed_until: timestamp.nullable(),
    unread_count: z.int().min(0),
    last_message: lastMessageSchema.nullable(),
    message_count: z.int().min(0),
    opt_out_suspected: z.boolean(),
    metadata,
    created_at: timestamp,
    updated_at: timestamp,
    closed_at: timestamp.nullable(),
  })
  .meta({ id: "Conversation" });
export interface Conversation extends z.infer<typeof conversationSchema> {}

export const noteSchema = z
  .strictObject({ id: ids.note, author: authorSchema, body: z.string(), created_at: timestamp })
  .meta({
    id: "Note",
    description: "A note for the staff of the host application. The contact never sees it.",
  });
export interface Note extends z.infer<typeof noteSchema> {}

/** The id that the host application uses for one of its people. */
export const person: z.ZodString = name(200);

const byId = { id: reference };

export const listConversationsSchema = z.strictObject({
  ...pageFields,
  status: conversationStatusSchema.optional().describe("All statuses by default."),
  handler: handlerSchema.optional(),
  assignee: reference.optional().describe("The id of a person or an agent."),
  label: reference.optional(),
  channel: channelSchema.optional().describe("SMS and MMS share conversations."),
  unread: queryBoolean.optional(),
  opt_out_suspected: queryBoolean.optional(),
  contact_id: reference
    .optional()
    .describe("Only conversations of this contact, newest start first."),
});
export interface ListConversations extends z.infer<typeof listConversationsSchema> {}

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
export interface OpenConversation extends z.infer<typeof openConversationSchema> {}

/** An absent field stays as it is. */
export const updateConversationSchema = (limits: Limits) =>
  z
    .strictObject({
      ...byId,
      status: conversationStatusSchema
        .optional()
        .describe("A closed conversation can be opened unless a newer one has replaced it."),
      snoozed_until: instant
        .optional()
        .describe(
          "Required with the status `snoozed`: when the conversation reopens, at most 366 days " +
            "ahead. A message from the contact reopens it earlier.",
        ),
      priority: prioritySchema.optional(),
      metadata: metadataInput(limits).optional().describe("Replaces the whole map."),
      opt_out_suspected: z
        .literal(false)
        .optional()
        .describe("Clears the flag after a person has checked the conversation."),
    })
    .refine(
      ({ status, snoozed_until }) => (status === "snoozed") === (snoozed_until !== undefined),
      {
        path: ["snoozed_until"],
        error: "is required with the status snoozed and not allowed with another status",
        when: ({ value }) => typeof value === "object" && value !== null,
      },
    )
    .meta({ id: "UpdateConversation" });
export interface UpdateConversation extends z.infer<ReturnType<typeof updateConversationSchema>> {}

export const assignConversationSchema = z
  .strictObject({
    ...byId,
    assignee: z
      .strictObject({ type: z.enum(["human", "agent"]), id: person })
      .refine(({ type, id }) => type === "human" || isId("agt", id), {
        path: ["id"],
        error: "must be an agent's id",
      })
      .nullable(),
  })
  .meta({ id: "AssignConversation" });
export interface AssignConversation extends z.infer<typeof assignConversationSchema> {}

const maxLabels = 50;

export const labelConversationSchema = z
  .strictObject({
    ...byId,
    labels: z
      .array(label)
      .max(maxLabels, { error: `must have at most ${maxLabels} labels` })
      .refine((list) => new Set(list).size === list.length, {
        error: "must not repeat a label",
      })
      .describe("The complete list of labels."),
  })
  .meta({ id: "LabelConversation" });
export interface LabelConversation extends z.infer<typeof labelConversationSchema> {}

export const handOffConversationSchema = z
  .strictObject({ ...byId, reason: name(200), summary: text(2_000).optional() })
  .meta({ id: "HandOffConversation" });
export interface HandOffConversation extends z.infer<typeof handOffConversationSchema> {}

export const threadQuerySchema = z.strictObject({ ...byId, ...pageFields });
export interface ThreadQuery extends z.infer<typeof threadQuerySchema> {}

export const addNoteSchema = z
  .strictObject({
    ...byId,
    body: name(10_000),
    author_id: person.optional().describe("The id that the host application uses for the author."),
  })
  .meta({ id: "AddNote" });
export interface AddNote extends z.infer<typeof addNoteSchema> {}
