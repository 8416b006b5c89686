/** Endpoints that are told of events, and every try to tell them. */
import { z } from "zod";
import { eventTypeSchema } from "../events/index.ts";
import {
  ids,
  instant,
  pageFields,
  reference,
  text,
  timestamp,
  wholeRecord,
} from "../kernel/index.ts";
import { defaultGraceSeconds } from "../accounts/index.ts";
import { eventPatterns } from "./filter.ts";
import { headerLimits, headerProblems } from "./headers.ts";

export const webhookStatusSchema = z.enum(["enabled", "paused", "disabled"]);
export type WebhookStatus = z.infer<typeof webhookStatusSchema>;

export const webhookOrderingSchema = z.enum(["none", "fifo"]);
export type WebhookOrdering = z.infer<typeof webhookOrderingSchema>;

export const deliveryStatusSchema = z.enum([
  "pending",
  "succeeded",
  "failed",
  "parked",
  "canceled",
]);
export type DeliveryStatus = z.infer<typeof deliveryStatusSchema>;

const webhookFields = {
  id: ids.webhook,
  url: z.string(),
  events: z
    .array(z.string())
    .meta({ description: "Types of events, or patterns: `*`, `message.*`." }),
  headers: z.record(z.string(), z.string()),
  ordering: webhookOrderingSchema,
  description: z.string().nullable(),
  status: webhookStatusSchema,
  disabled_reason: z.string().nullable(),
  previous_expires_at: timestamp
    .nullable()
    .meta({ description: "Until when the secret before the last rotation signs too." }),
  created_at: timestamp,
  updated_at: timestamp,
};

export const webhookSchema = z.strictObject(webhookFields).meta({ id: "Webhook" });
export interface Webhook extends z.infer<typeof webhookSchema> {}

export const createdWebhookSchema = z
  .strictObject({
    ...webhookFields,
    secret: z
      .string()
      .nullable()
      .meta({ description: "Shown this once: a replay of the request answers null." }),
  })
  .meta({ id: "WebhookWithSecret" });
export interface CreatedWebhook extends z.infer<typeof createdWebhookSchema> {}

export const deliveryAttemptSchema = z
  .strictObject({
    id: ids.attempt,
    number: z.int().min(1),
    manual: z.boolean(),
    started_at: timestamp,
    duration_ms: z.int().min(0),
    address: z
      .string()
      .nullable()
      .meta({ description: "The IP address that the socket connected to." }),
    status_code: z.int().nullable(),
    error: z
      .string()
      .nullable()
      .meta({ description: "What went wrong, where no whole answer came." }),
    response_headers: z.record(z.string(), z.string()),
    response_body: z.string().nullable(),
    response_body_encoding: z.enum(["utf-8", "base64"]),
    response_truncated: z
      .boolean()
      .meta({ description: "There was more of the body than is kept." }),
  })
  .meta({ id: "DeliveryAttempt" });
export interface DeliveryAttempt extends z.infer<typeof deliveryAttemptSchema> {}

const deliveryFields = {
  id: ids.delivery,
  webhook_id: ids.webhook,
  event_id: ids.event,
  event_type: eventTypeSchema,
  status: deliveryStatusSchema,
  attempt_count: z.int().min(0),
  next_attempt_at: timestamp
    .nullable()
    .meta({ description: "Not before then. Null where none is to come." }),
  created_at: timestamp,
};

export const deliverySchema = z.strictObject(deliveryFields).meta({
  id: "Delivery",
  description: "One event for one webhook. Parked: it waits until its webhook is enabled.",
});
export interface Delivery extends z.infer<typeof deliverySchema> {}

export const deliveryWithAttemptsSchema = z
  .strictObject({
    ...deliveryFields,
    body: z
      .string()
      .nullable()
      .meta({ description: "What is sent, to the byte. Null once its contact was erased." }),
    attempts: z.array(deliveryAttemptSchema),
  })
  .meta({ id: "DeliveryWithAttempts" });
export interface DeliveryWithAttempts extends z.infer<typeof deliveryWithAttemptsSchema> {}

const url = z.string().meta({
  format: "uri",
  description: "https, or http in the sandbox; a public host. At most 2,048 characters.",
});

const events = z
  .array(z.enum(eventPatterns).meta({ id: "EventPattern" }))
  .min(1)
  .max(50)
  .meta({ description: "Types of events, or patterns: `*`, `message.*`." });

const headers = wholeRecord(
  z
    .record(z.string(), z.string())
    .superRefine((given, context) => {
      for (const { name, code, message } of headerProblems(given)) {
        context.addIssue({
          code: "custom",
          message,
          path: name === undefined ? [] : [name],
          params: { code },
        });
      }
    })
    .meta({
      maxProperties: headerLimits.count,
      description: "Sent with each delivery. Up to 8,192 characters.",
    }),
);

export const createWebhookSchema = z
  .strictObject({
    url,
    events,
    headers: headers.optional(),
    ordering: webhookOrderingSchema.optional().meta({
      default: "none",
      description: "`fifo`: one after the other, in the order in which the events were committed.",
    }),
    description: text(500).optional(),
  })
  .meta({ id: "CreateWebhook" });
export interface CreateWebhook extends z.infer<typeof createWebhookSchema> {}

export const updateWebhookSchema = z
  .strictObject({
    id: reference,
    url: url.optional(),
    events: events.optional(),
    headers: headers
      .optional()
      .meta({ description: "All of them; those that are not named are gone." }),
    ordering: webhookOrderingSchema.optional(),
    description: text(500).nullable().optional(),
    status: webhookStatusSchema.exclude(["disabled"]).optional().meta({
      description:
        "While it is paused or disabled its deliveries are kept; they go out when it is enabled.",
    }),
  })
  .meta({ id: "UpdateWebhook" });
export interface UpdateWebhook extends z.infer<typeof updateWebhookSchema> {}

export const rotateWebhookSecretSchema = z
  .strictObject({
    id: reference,
    grace_seconds: z.int().min(0).max(604_800).optional().meta({
      default: defaultGraceSeconds,
      description: "How long the old secret signs too.",
    }),
  })
  .meta({ id: "RotateWebhookSecret" });
export interface RotateWebhookSecret extends z.infer<typeof rotateWebhookSecretSchema> {}

export const testWebhookSchema = z
  .strictObject({
    id: reference,
    type: eventTypeSchema
      .optional()
      .meta({ description: "By default the first that its filter takes." }),
  })
  .meta({ id: "TestWebhook" });
export interface TestWebhook extends z.infer<typeof testWebhookSchema> {}

export const recoverWebhookSchema = z
  .strictObject({
    id: reference,
    since: instant.meta({ description: "When the first of the deliveries was made." }),
  })
  .meta({ id: "RecoverWebhook" });
export interface RecoverWebhook extends z.infer<typeof recoverWebhookSchema> {}

export const deliveryOfWebhookSchema = z.strictObject({ id: reference, delivery_id: reference });
export interface DeliveryOfWebhook extends z.infer<typeof deliveryOfWebhookSchema> {}

export const listDeliveriesSchema = z.strictObject({
  id: reference,
  ...pageFields,
  status: deliveryStatusSchema.optional(),
  event_type: eventTypeSchema.optional(),
});
export interface ListDeliveries extends z.infer<typeof listDeliveriesSchema> {}
