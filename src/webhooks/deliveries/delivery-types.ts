/** Deliveries: each attempt to deliver an event to a webhook is recorded. */
import * as z from "zod";
import { eventTypeSchema, type EventType } from "../../events/index.ts";
import {
  ids,
  pageFields,
  reference,
  timestamp,
  type AttemptId,
  type DeliveryId,
  type EventId,
  type PageQuery,
  type WebhookId,
} from "../../kernel/index.ts";

/** The status of a delivery. `parked`: it waits until its webhook is enabled. */
export type DeliveryStatus = "pending" | "succeeded" | "failed" | "parked" | "canceled";
export const deliveryStatusSchema = z.enum([
  "pending",
  "succeeded",
  "failed",
  "parked",
  "canceled",
]);

/** One request to a webhook, and its outcome. */
export interface DeliveryAttempt {
  /** The id of the attempt. */
  readonly id: AttemptId;
  /** The position among the delivery's attempts, from 1. */
  readonly number: number;
  /** True for a redelivery, a recovery or a test. False for the retry schedule. */
  readonly manual: boolean;
  /** When the attempt began. */
  readonly started_at: string;
  /** How long it took, from the DNS lookup to its end, in milliseconds. */
  readonly duration_ms: number;
  /** The IP address that the socket connected to. */
  readonly address: string | null;
  /** The HTTP status of the response. Null if there was none. */
  readonly status_code: number | null;
  /**
   * Why the attempt failed: `status_not_2xx` or `redirected` if there was a response, otherwise a
   * code such as `connect_refused`. Null if it succeeded.
   */
  readonly error: string | null;
  /** The headers of the response, with names in lower case. Empty after an erasure. */
  readonly response_headers: Record<string, string>;
  /**
   * Up to 16 KiB of the response's body, not decompressed. Null if there was no response, and after
   * an erasure, because the response may quote the request.
   */
  readonly response_body: string | null;
  /** How `response_body` shows the bytes: as text, or as base64 if they are not UTF-8. */
  readonly response_body_encoding: "utf-8" | "base64";
  /** Whether the response body was longer than the stored part. */
  readonly response_truncated: boolean;
}

export const deliveryAttemptSchema = z
  .strictObject({
    id: ids.attempt,
    number: z.int().min(1),
    manual: z.boolean(),
    started_at: timestamp,
    duration_ms: z.int().min(0),
    address: z.string().nullable(),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    response_headers: z.record(z.string(), z.string()),
    response_body: z.string().nullable(),
    response_body_encoding: z.enum(["utf-8", "base64"]),
    response_truncated: z.boolean(),
  })
  .meta({ id: "DeliveryAttempt" });

const deliveryFields = {
  id: ids.delivery,
  webhook_id: ids.webhook,
  event_id: ids.event,
  event_type: eventTypeSchema,
  status: deliveryStatusSchema,
  attempt_count: z.int().min(0),
  next_attempt_at: timestamp.nullable(),
  created_at: timestamp,
};

/** One event for one webhook. A `parked` delivery waits until its webhook is enabled. */
export interface Delivery {
  /** The id of the delivery. */
  readonly id: DeliveryId;
  /** The webhook that the event goes to. */
  readonly webhook_id: WebhookId;
  /** The event. Requests carry it as `webhook-id`. */
  readonly event_id: EventId;
  /** The type of the event. */
  readonly event_type: EventType;
  /**
   * `pending`: an attempt is running or scheduled. `parked`: the webhook is not enabled.
   * `succeeded`: the endpoint returned a 2xx. `failed`: all attempts failed, or the endpoint
   * returned 410. `canceled`: the contact was erased before the delivery arrived.
   */
  readonly status: DeliveryStatus;
  /** How many attempts were made, on schedule or at your request. */
  readonly attempt_count: number;
  /** The earliest time of the next attempt. Null if no attempt is scheduled. */
  readonly next_attempt_at: string | null;
  /** When the delivery was created, with its event. */
  readonly created_at: string;
}

export const deliverySchema = z.strictObject(deliveryFields).meta({ id: "Delivery" });

/** A delivery in a list, with its latest attempts. */
export interface DeliveryWithAttempts extends Delivery {
  /** The latest 5 attempts, oldest first. The endpoint of one delivery returns all of them. */
  readonly attempts: DeliveryAttempt[];
}

export const deliveryWithAttemptsSchema = z
  .strictObject({
    ...deliveryFields,
    attempts: z.array(deliveryAttemptSchema),
  })
  .meta({ id: "DeliveryWithAttempts" });

/** A delivery with its request body and all its attempts. */
export interface DeliveryWithBody extends Delivery {
  /** All attempts, oldest first. */
  readonly attempts: DeliveryAttempt[];
  /** The exact request body. Null after the contact was erased. */
  readonly body: string | null;
}

export const deliveryWithBodySchema = z
  .strictObject({
    ...deliveryFields,
    attempts: z.array(deliveryAttemptSchema),
    body: z.string().nullable(),
  })
  .meta({ id: "DeliveryWithBody" });

/** Names one delivery of a webhook. */
export interface DeliveryOfWebhook {
  /** The id of the webhook. */
  readonly id: string;
  /** The id of the delivery. */
  readonly delivery_id: string;
}

export const deliveryOfWebhookSchema = z
  .strictObject({ id: reference, delivery_id: reference })
  .meta({ interface: "DeliveryOfWebhook" });

/** Filters of a list of deliveries. */
export interface ListDeliveries extends PageQuery {
  /** Only deliveries with this status. */
  readonly status?: DeliveryStatus | undefined;
  /** Only deliveries of events of this type. */
  readonly event_type?: EventType | undefined;
}

export const listDeliveriesSchema = z
  .strictObject({
    ...pageFields,
    status: deliveryStatusSchema.optional(),
    event_type: eventTypeSchema.optional(),
  })
  .meta({ interface: "ListDeliveries" });
