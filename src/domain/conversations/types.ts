/** Threads: one active one for each contact and medium. */
import { z } from "zod";
import { contactReferenceSchema } from "../contacts/types.ts";
import { ids, mediumSchema, metadata, timestamp } from "../../fields.ts";
import { authorSchema } from "../messages/types.ts";

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
    preview: z.string().meta({ description: "The first 140 characters." }),
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
    handler: handlerSchema.meta({ description: "Who answers: an agent, a person, the first person free, or nobody." }),
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
