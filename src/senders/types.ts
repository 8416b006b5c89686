/** The numbers and inboxes that an account writes from, and that say whose an inbound is. */
import { z } from "zod";
import {
  channelSchema,
  ids,
  pageFields,
  reference,
  senderAddress,
  timestamp,
} from "../kernel/index.ts";

const channels = z
  .array(channelSchema)
  .min(1)
  .max(3)
  .refine((list) => new Set(list).size === list.length, { error: "must not name a channel twice" });
const pool =
  "One of those that contacts are spread over who know none of the senders yet; a contact keeps the one it got.";
const messagesPerSecond = z.number().min(0.01).max(1_000);
const dailyCap = z.int().min(1).max(1_000_000);

export const senderSchema = z
  .strictObject({
    id: ids.sender,
    address: z.string(),
    channels: z.array(channelSchema),
    transport: z.string().meta({ description: "The transport's name." }),
    default: z.boolean().meta({
      description:
        "Used where neither the message nor the contact's history names one, nor is there a pool.",
    }),
    pool: z.boolean().meta({ description: pool }),
    messages_per_second: z
      .number()
      .nullable()
      .meta({ description: "Hand-overs in any second; null: as many as there are." }),
    daily_cap: z
      .number()
      .nullable()
      .meta({ description: "Hand-overs in any 24 hours; null: as many as there are." }),
    created_at: timestamp,
  })
  .meta({ id: "Sender" });
export interface Sender extends z.infer<typeof senderSchema> {}

export const createSenderSchema = z
  .strictObject({
    address: senderAddress,
    channels,
    transport: reference,
    default: z
      .boolean()
      .optional()
      .meta({ description: "By default only an account's first for a channel." }),
    pool: z
      .boolean()
      .optional()
      .meta({ default: false, description: `${pool} Up to 100 for a channel.` }),
    messages_per_second: messagesPerSecond.nullable().optional(),
    daily_cap: dailyCap.nullable().optional(),
  })
  .meta({ id: "CreateSender" });
export interface CreateSender extends z.infer<typeof createSenderSchema> {}

export const updateSenderSchema = z
  .strictObject({
    id: reference,
    channels: channels.optional(),
    default: z.boolean().optional(),
    pool: z.boolean().optional(),
    messages_per_second: messagesPerSecond.nullable().optional(),
    daily_cap: dailyCap.nullable().optional(),
  })
  .meta({ id: "UpdateSender" });
export interface UpdateSender extends z.infer<typeof updateSenderSchema> {}

export const listSendersSchema = z.strictObject(pageFields);
export interface ListSenders extends z.infer<typeof listSendersSchema> {}
