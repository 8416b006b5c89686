/** Webhooks receive events. Each attempt to deliver an event is recorded. */
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
  events: z.array(z.string()).describe("Event types, or patterns such as `*` and `message.*`."),
  headers: z.record(z.string(), z.string()),
  ordering: webhookOrderingSchema,
  description: z.string().nullable(),
  status: webhookStatusSchema,
  disabled_reason: z.string().nullable(),
  previous_expires_at: timestamp
    .nullable()
    .describe("Until this time, deliveries are also signed with the previous secret."),
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
      .describe("Returned only once. A replay of the request returns null."),
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
    address: z.string().nullable().describe("The IP address that the socket connected to."),
    status_code: z.int().nullable(),
    error: z.string().nullable().describe("Why the attempt failed. Null if it succeeded."),
    response_headers: z.record(z.string(), z.string()),
    response_body: z.string().nullable(),
    response_body_encoding: z.enum(["utf-8", "base64"]),
    response_truncated: z
      .boolean()
      .describe("Whether the response body was longer than the stored part."),
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
    .describe("The earliest time of the next attempt. Null if no attempt is scheduled."),
  created_at: timestamp,
};

export const deliverySchema = z.strictObject(deliveryFields).meta({
  id: "Delivery",
  description: "One event for one webhook. A `parked` delivery waits until its webhook is enabled.",
});
export interface Delivery extends z.infer<typeof deliverySchema> {}

export const deliveryWithAttemptsSchema = z
  .strictObject({
    ...deliveryFields,
    body: z
      .string()
      .nullable()
      .describe("The exact request body. Null after the contact was erased."),
    attempts: z.array(deliveryAttemptSchema),
  })
  .meta({ id: "DeliveryWithAttempts" });
export interface DeliveryWithAttempts extends z.infer<typeof deliveryWithAttemptsSchema> {}

const url = z.string().meta({
  format: "uri",
  description:
    "An https URL with a public host, at most 2,048 characters. The sandbox also accepts http.",
});

const events = z
  .array(z.enum(eventPatterns).meta({ id: "EventPattern" }))
  .min(1)
  .max(50)
  .describe("Event types, or patterns such as `*` and `message.*`.");

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
      description: "Headers of each delivery: at most 20, and at most 8,192 characters in total.",
    }),
);

export const createWebhookSchema = z
  .strictObject({
    url,
    events,
    headers: headers.optional(),
    ordering: webhookOrderingSchema.optional().meta({
      default: "none",
      description:
        "`fifo` sends one delivery at a time, in the order in which the events were committed. " +
        "`none` sends several at once.",
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
    headers: headers.optional().describe("Replaces all headers."),
    ordering: webhookOrderingSchema.optional(),
    description: text(500).nullable().optional(),
    status: webhookStatusSchema
      .exclude(["disabled"])
      .optional()
      .describe("Deliveries of a paused or disabled webhook are kept and sent when it is enabled."),
  })
  .meta({ id: "UpdateWebhook" });
export interface UpdateWebhook extends z.infer<typeof updateWebhookSchema> {}

export const rotateWebhookSecretSchema = z
  .strictObject({
    id: reference,
    grace_seconds: z.int().min(0).max(604_800).optional().meta({
      default: defaultGraceSeconds,
      description: "For how many seconds the old secret still signs. 0 ends it at once.",
    }),
  })
  .meta({ id: "RotateWebhookSecret" });
export interface RotateWebhookSecret extends z.infer<typeof rotateWebhookSecretSchema> {}

export const testWebhookSchema = z
  .strictObject({
    id: reference,
    type: eventTypeSchema
      .optional()
      .describe("By default the first type that matches the webhook's `events`."),
  })
  .meta({ id: "TestWebhook" });
export interface TestWebhook extends z.infer<typeof testWebhookSchema> {}

export const recoverWebhookSchema = z
  .strictObject({
    id: reference,
    since: instant.describe("Only deliveries created at or after this time are sent again."),
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

/** Automatic attempts that failed since the last automatic attempt that succeeded. */
export interface FailingStreak {
  /** When the first of these attempts failed. */
  readonly since: number;
  readonly attempts: number;
  /** The number of days (UTC) with failures. */
  readonly days: number;
  /** The last day with a failure, in days since the epoch. */
  readonly last_day: number;
}
