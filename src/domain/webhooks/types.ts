/** Endpoints that are told of events, and every try to tell them. */
import { z } from "zod";
import { eventTypeSchema } from "../events/types.ts";
import { ids, timestamp } from "../../fields.ts";

export const webhookStatusSchema = z.enum(["enabled", "paused", "disabled"]);
export type WebhookStatus = z.infer<typeof webhookStatusSchema>;

export const webhookOrderingSchema = z.enum(["none", "fifo"]);
export type WebhookOrdering = z.infer<typeof webhookOrderingSchema>;

export const deliveryStatusSchema = z.enum(["pending", "succeeded", "failed", "parked", "canceled"]);
export type DeliveryStatus = z.infer<typeof deliveryStatusSchema>;

const webhookFields = {
  id: ids.webhook,
  url: z.string(),
  events: z.array(z.string()).meta({ description: "Types of events, or patterns: `*`, `message.*`." }),
  headers: z.record(z.string(), z.string()),
  ordering: webhookOrderingSchema,
  description: z.string().nullable(),
  status: webhookStatusSchema,
  disabled_reason: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const webhookSchema = z.strictObject(webhookFields).meta({ id: "Webhook" });
export interface Webhook extends z.infer<typeof webhookSchema> {}

export const createdWebhookSchema = z
  .strictObject({ ...webhookFields, secret: z.string().nullable() })
  .meta({ id: "WebhookWithSecret", description: "The secret is shown this once." });
export interface CreatedWebhook extends z.infer<typeof createdWebhookSchema> {}

export const deliveryAttemptSchema = z
  .strictObject({
    id: ids.attempt,
    number: z.int().min(1),
    manual: z.boolean(),
    started_at: timestamp,
    duration_ms: z.int().min(0),
    address: z.string().nullable().meta({ description: "The IP address that the socket connected to." }),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    response_headers: z.record(z.string(), z.string()),
    response_body: z.string().nullable(),
  })
  .meta({ id: "DeliveryAttempt" });
export interface DeliveryAttempt extends z.infer<typeof deliveryAttemptSchema> {}

export const deliverySchema = z
  .strictObject({
    id: ids.delivery,
    webhook_id: ids.webhook,
    event_id: ids.event,
    event_type: eventTypeSchema,
    status: deliveryStatusSchema,
    attempts: z.array(deliveryAttemptSchema),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: "Delivery" });
export interface Delivery extends z.infer<typeof deliverySchema> {}
