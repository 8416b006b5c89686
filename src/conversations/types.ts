/** Threads: one active one for each contact and medium. */
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
    preview: z.string().meta({ description: "The first 140 characters; in events empty." }),
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
    handler: handlerSchema.meta({
      description: "Who answers: an agent, a person, the first person free, or nobody.",
    }),
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
  .meta({ id: "Note", description: "Seen by the host's people only." });
export interface Note extends z.infer<typeof noteSchema> {}

/** Whom of the host's people something is by or for: the host's own id. */
export const person: z.ZodString = name(200);

const byId = { id: reference };

export const listConversationsSchema = z.strictObject({
  ...pageFields,
  status: conversationStatusSchema.optional().meta({ description: "By default all." }),
  handler: handlerSchema.optional(),
  assignee: reference.optional().meta({ description: "The id of a person or an agent." }),
  label: reference.optional(),
  channel: channelSchema.optional().meta({ description: "SMS and MMS share conversations." }),
  unread: queryBoolean.optional(),
  opt_out_suspected: queryBoolean.optional(),
  contact_id: reference
    .optional()
    .meta({ description: "One contact's, in the order in which they began." }),
});
export interface ListConversations extends z.infer<typeof listConversationsSchema> {}

export const openConversationSchema = z
  .strictObject({
    to: recipientSchema,
    medium: mediumSchema.optional().meta({ default: "text" }),
  })
  .refine(({ to, medium }) => medium !== "webchat" || !to.startsWith("+"), {
    path: ["to"],
    error: "must be a contact's id on webchat",
  })
  .meta({ id: "OpenConversation" });
export interface OpenConversation extends z.infer<typeof openConversationSchema> {}

/** What is absent stays as it is. */
export const updateConversationSchema = (limits: Limits) =>
  z
    .strictObject({
      ...byId,
      status: conversationStatusSchema.optional().meta({
        description: "A closed one can be opened while no newer one has taken its place.",
      }),
      snoozed_until: instant.optional().meta({
        description:
          "With status snoozed: when it opens by itself, at most 366 days ahead. A message from the contact opens it before.",
      }),
      priority: prioritySchema.optional(),
      metadata: metadataInput(limits).optional().meta({ description: "Replaces what was there." }),
      opt_out_suspected: z
        .literal(false)
        .optional()
        .meta({ description: "Somebody has looked into it." }),
    })
    .refine(
      ({ status, snoozed_until }) => (status === "snoozed") === (snoozed_until !== undefined),
      {
        path: ["snoozed_until"],
        error: "goes with status snoozed, and with no other",
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

const mostLabels = 50;

export const labelConversationSchema = z
  .strictObject({
    ...byId,
    labels: z
      .array(label)
      .max(mostLabels, { error: `must have at most ${mostLabels} labels` })
      .refine((list) => new Set(list).size === list.length, {
        error: "must not name a label twice",
      })
      .meta({ description: "All that it shall have." }),
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
    author_id: person.optional().meta({ description: "Who of the host's people writes." }),
  })
  .meta({ id: "AddNote" });
export interface AddNote extends z.infer<typeof addNoteSchema> {}
