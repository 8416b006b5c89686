/** What happened to a message, entry by entry: the audit that stays when all else is gone. */
import { z } from "zod";
import { ids, timestamp } from "../kernel/index.ts";
import { messageErrorSchema, messageStatusSchema } from "./types.ts";

export const receiptStatusSchema = z.enum(["sent", "delivered", "undelivered", "read"]);

/**
 * Why a receipt changed nothing: seen before, an earlier one of its kind stands, a stronger one does, or the message went on by another
 * attempt.
 */
export const ignoredReasonSchema = z.enum([
  "duplicate",
  "already_known",
  "outranked",
  "superseded",
]);
export type IgnoredReason = z.infer<typeof ignoredReasonSchema>;

const transition = z
  .strictObject({
    type: z.literal("transition"),
    at: timestamp,
    from: messageStatusSchema.nullable(),
    to: messageStatusSchema,
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelineTransition" });
const attempt = z
  .strictObject({
    type: z.literal("attempt"),
    at: timestamp,
    id: ids.attempt,
    number: z.int().min(1),
    transport: z.string(),
    outcome: z
      .enum(["pending", "accepted", "rejected", "ambiguous"])
      .meta({ description: "`pending`: the carrier hasn't answered yet." }),
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    answered_at: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: "TimelineAttempt" });
const receipt = z
  .strictObject({
    type: z.literal("receipt"),
    at: timestamp.meta({ description: "When it came." }),
    carrier_at: timestamp.meta({ description: "The carrier's time." }),
    status: receiptStatusSchema,
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    applied: z.boolean(),
    ignored_reason: ignoredReasonSchema.nullable(),
  })
  .meta({ id: "TimelineReceipt" });
const lookup = z
  .strictObject({
    type: z.literal("lookup"),
    at: timestamp,
    attempt_id: ids.attempt,
    outcome: z.enum(["sent", "not_sent", "unknown"]),
  })
  .meta({ id: "TimelineLookup" });
const edit = z
  .strictObject({ type: z.literal("edit"), at: timestamp, fields: z.array(z.string()) })
  .meta({ id: "TimelineEdit" });
const policy = z
  .strictObject({
    type: z.literal("policy"),
    at: timestamp,
    policy: z.string().meta({ description: "`consent`, `quiet_hours`, or a rule of the host's." }),
    verdict: z.enum(["deny", "defer"]),
    reason: z.string(),
    until: timestamp.nullable().meta({ description: "Of a deferral: not before." }),
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelinePolicy", description: "A policy kept it from its hand-over." });
const redaction = z
  .strictObject({ type: z.literal("redaction"), at: timestamp })
  .meta({ id: "TimelineRedaction" });

export const timelineEntrySchema = z
  .discriminatedUnion("type", [transition, attempt, receipt, lookup, edit, policy, redaction])
  .meta({
    id: "TimelineEntry",
    description: "One thing that happened to a message, also when it changed nothing.",
  });
export type TimelineEntry = z.infer<typeof timelineEntrySchema>;

export const timelineSchema = z
  .strictObject({ data: z.array(timelineEntrySchema) })
  .meta({ id: "Timeline", description: "Oldest first." });
export interface Timeline extends z.infer<typeof timelineSchema> {}
