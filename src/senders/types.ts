/** Senders: the numbers and webchat inboxes from which an account sends, and which receive. */
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
  .refine((list) => new Set(list).size === list.length, {
    error: "must not contain a channel twice",
  });
const pool =
  "Whether the sender is in the pools of its channels. New contacts are spread over a pool's " +
  "senders. A contact keeps its sender.";
const messagesPerSecond = z.number().min(0.01).max(1_000);
const dailyCap = z.int().min(1).max(1_000_000);

export const senderSchema = z
  .strictObject({
    id: ids.sender,
    address: z.string(),
    channels: z.array(channelSchema),
    transport: z.string().describe("The name of the sender's transport."),
    default: z
      .boolean()
      .describe(
        "Whether this is the default sender of one of its channels. A message uses the default " +
          "if it names no sender, the contact has none yet, and the channel has no pool.",
      ),
    pool: z.boolean().meta({ description: pool }),
    messages_per_second: z
      .number()
      .nullable()
      .describe("The most messages to hand over per second. Null for no limit."),
    daily_cap: z
      .number()
      .nullable()
      .describe("The most messages to hand over in any 24 hours. Null for no limit."),
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
      .describe(
        "Makes this the default sender of its channels. By default, this applies only to " +
          "channels that have no default yet.",
      ),
    pool: z
      .boolean()
      .optional()
      .meta({ default: false, description: `${pool} A pool has at most 100 senders.` }),
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
