/**
 * A *webhook* is an endpoint that receives events. A *delivery* is one event for one webhook. It is
 * created in the transaction that creates the event, and it stores the exact bytes that are sent.
 * An *attempt* is one request.
 */
import type { EventType } from "../events/index.ts";
import type { AttemptId, DeliveryId, EventId, WebhookId } from "../kernel/index.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  position,
  scoped,
  text,
  time,
  type RowOf,
} from "../ports/index.ts";
import type { DeliveryStatus } from "./deliveries/delivery-types.ts";
import type { EventPattern } from "./event-patterns.ts";
import type { PastAttempt } from "./sending/schedule.ts";
import type { FailingStreak, WebhookOrdering, WebhookStatus } from "./types.ts";

/** The maximum number of webhooks per account and mode. */
export const maxWebhooks = 1_000;

export const webhooks = scoped("webhooks", {
  id: text<WebhookId>(),
  /**
   * A number below `maxWebhooks`, unique within the account and mode. The unique index enforces the
   * limit even when transactions race.
   */
  ordinal: integer(),
  url: text(),
  /** The event filter as the user gave it. */
  events: json<readonly EventPattern[]>(),
  headers: json<Readonly<Record<string, string>>>(),
  ordering: text<WebhookOrdering>(),
  description: nullable(text()),
  status: text<WebhookStatus>(),
  disabled_reason: nullable(text()),
  /** Stored in plain text, because signing needs the whole secret. */
  secret: text(),
  /** The former secret, which also signs until `previous_expires_at`. Null if there is none. */
  previous_secret: nullable(text()),
  previous_expires_at: nullable(time()),
  /**
   * Whether the last automatic attempt succeeded. False for a new webhook and for one that was just
   * enabled again or just got a new URL.
   */
  proven: boolean(),
  /**
   * The current series of failed automatic attempts. Null if the last one succeeded or there was
   * none.
   */
  streak: nullable(json<FailingStreak>()),
  /** Until when the receiver asked for no requests. Null if it asked for no pause. */
  paused_until: nullable(time()),
  /**
   * Failed deliveries with higher ids still need to be scheduled again. Null when no recovery runs.
   */
  recover_after: nullable(text()),
  /** The `recover_after` with which the running recovery began. Null when no recovery runs. */
  recover_since: nullable(text()),
  created_at: time(),
  updated_at: time(),
});
export interface WebhookRow extends RowOf<typeof webhooks> {}

export const webhookById = webhooks.key("id");
export const webhookByOrdinal = webhooks.unique("by_ordinal", ["ordinal"]);

/**
 * A pattern of a webhook filter. Patterns that another pattern of the same filter covers are left
 * out. Written in the transaction that writes the webhook.
 */
export const webhookPatterns = scoped("webhook_patterns", {
  pattern: text(),
  webhook_id: text<WebhookId>(),
});
export interface WebhookPatternRow extends RowOf<typeof webhookPatterns> {}

export const webhookPatternByName = webhookPatterns.key("pattern", "webhook_id");

export const deliveries = scoped("deliveries", {
  id: text<DeliveryId>(),
  /**
   * The order of all deliveries: the order in which their transactions committed. A webhook with
   * `fifo` ordering sends in this order.
   */
  position: position(),
  webhook_id: text<WebhookId>(),
  event_id: text<EventId>(),
  event_type: text<EventType>(),
  /** The stored status. The API shows `pending` as `parked` while the webhook is not enabled. */
  status: text<Exclude<DeliveryStatus, "parked">>(),
  /** The request body. Null after it was erased. */
  body: nullable(text()),
  /** The number of attempts, including manual ones. */
  attempts: integer(),
  /** The automatic attempts that have ended. */
  history: json<readonly PastAttempt[]>(),
  /** The planned wait before the next automatic attempt, in milliseconds. */
  wait_ms: integer(),
  /** When the next automatic attempt is due. Null when none is scheduled. */
  next_attempt_at: nullable(time()),
  /** When a manual attempt was requested. Null when none is pending. */
  manual_at: nullable(time()),
  /**
   * With `fifo` ordering, the manual attempt waits for automatic deliveries up to this position. 0
   * for a test, which has no place in the order.
   */
  manual_after: integer(),
  created_at: time(),
});
export interface DeliveryRow extends RowOf<typeof deliveries> {}

export const deliveryById = deliveries.key("id");
export const deliveriesByPosition = deliveries.acrossScopes.unique("by_position", ["position"]);
/** Unique per event and webhook. Erasures find deliveries through it. */
export const deliveriesOfEvent = deliveries.byId.unique("by_event", ["event_id", "webhook_id"]);
export const deliveriesOfWebhook = deliveries.index("by_webhook", ["webhook_id", "status", "id"]);
/** Due deliveries of a webhook by time. `deliveriesInOrder` is for `fifo` ordering. */
export const deliveriesDue = deliveries.byId.index("due", ["webhook_id", "next_attempt_at"], {
  where: { column: "next_attempt_at", present: true },
});
export const deliveriesInOrder = deliveries.byId.index("in_order", ["webhook_id", "position"], {
  where: { column: "next_attempt_at", present: true },
});
/** Requested manual attempts of a webhook, in the order in which `fifo` ordering allows them. */
export const manualDeliveries = deliveries.byId.index(
  "manual",
  ["webhook_id", "manual_after", "manual_at"],
  { where: { column: "manual_at", present: true } },
);

/**
 * The maximum number of attempts of a delivery that are read. Automatic attempts may exceed
 * `maxManualAttempts`, but never this limit.
 */
export const maxAttemptsRead = 200;

/** One request and its outcome. */
export const deliveryAttempts = scoped("delivery_attempts", {
  delivery_id: text<DeliveryId>(),
  number: integer(),
  id: text<AttemptId>(),
  manual: boolean(),
  started_at: time(),
  duration_ms: integer(),
  address: nullable(text()),
  status_code: nullable(integer()),
  error: nullable(text()),
  response_headers: json<Readonly<Record<string, string>>>(),
  /**
   * UTF-8 text, or base64 when the body is not UTF-8 text. Null when there was no response, and
   * after an erasure, because the response may quote the request.
   */
  response_body: nullable(text()),
  response_is_base64: boolean(),
  response_truncated: boolean(),
});
export interface DeliveryAttemptRow extends RowOf<typeof deliveryAttempts> {}

export const deliveryAttemptByNumber = deliveryAttempts.key("delivery_id", "number");

/** How far the log of deliveries was read to arm the jobs of webhooks. */
export const cursors = collection("webhook_cursors", {
  name: text<"deliveries">(),
  position: integer(),
  moved_at: time(),
});

export const cursorByName = cursors.key("name");
