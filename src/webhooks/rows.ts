/**
 * A webhook is an endpoint that is told of events. A *delivery* is one event for one endpoint: made in the transaction that makes the event,
 * with the bytes that are sent. An *attempt* is one request.
 */
import type { AttemptId, DeliveryId, EventId, WebhookId } from "../kernel/index.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  position,
  type RowOf,
  scoped,
  text,
  time,
} from "../ports/index.ts";
import type { EventType } from "../events/index.ts";
import type { FailingStreak } from "./failing.ts";
import type { PastAttempt } from "./schedule.ts";
import type { DeliveryStatus, WebhookOrdering, WebhookStatus } from "./types.ts";

export const webhooks = scoped("webhooks", {
  id: text<WebhookId>(),
  /** A number of its own among the account's, below `mostWebhooks`: so there are never more, whatever races. */
  slot: integer(),
  url: text(),
  /** Its filter, as it was given. */
  events: json<readonly string[]>(),
  headers: json<Readonly<Record<string, string>>>(),
  ordering: text<WebhookOrdering>(),
  description: nullable(text()),
  status: text<WebhookStatus>(),
  disabled_reason: nullable(text()),
  /** As its owner has it: signing needs it whole. */
  secret: text(),
  /** Signs too until `previous_expires_at`. */
  previous_secret: nullable(text()),
  previous_expires_at: nullable(time()),
  /** Its last automatic attempt succeeded: what can't be said of a new one, nor of one that has just come back. */
  proven: boolean(),
  /** Since when its automatic attempts fail, where they do. */
  streak: nullable(json<FailingStreak>()),
  /** It asked to be left alone until then. */
  paused_until: nullable(time()),
  /** Its failed deliveries with higher ids are yet to be asked for by hand; null: nobody wished for that. */
  recover_after: nullable(text()),
  created_at: time(),
  updated_at: time(),
});
export interface WebhookRow extends RowOf<typeof webhooks> {}

export const webhookById = webhooks.key("id");
export const webhookBySlot = webhooks.unique("by_slot", ["slot"]);

/** A pattern of a webhook's filter, without those that another of its patterns covers. Written together with the webhook. */
export const webhookPatterns = scoped("webhook_patterns", {
  pattern: text(),
  webhook_id: text<WebhookId>(),
});
export interface WebhookPatternRow extends RowOf<typeof webhookPatterns> {}

export const webhookPatternByName = webhookPatterns.key("pattern", "webhook_id");

export const deliveries = scoped("deliveries", {
  id: text<DeliveryId>(),
  /** Of all deliveries, in the order of the commits that brought them: what a webhook in `fifo` order keeps to. */
  position: position(),
  webhook_id: text<WebhookId>(),
  event_id: text<EventId>(),
  event_type: text<EventType>(),
  /** While its webhook isn't enabled, a pending one is shown as parked. */
  status: text<Exclude<DeliveryStatus, "parked">>(),
  /** The event as it is sent; null when it was erased. */
  body: nullable(text()),
  /** How many there were, those by hand included. */
  attempts: integer(),
  /** The automatic attempts. */
  history: json<readonly PastAttempt[]>(),
  /** The wait before the next automatic attempt, as it was planned. */
  wait_ms: integer(),
  /** When the next automatic attempt is due; null when none is to come. */
  next_attempt_at: nullable(time()),
  /** Since when an attempt by hand is asked for. */
  manual_at: nullable(time()),
  /** In `fifo` order that attempt waits for the automatic deliveries up to this position. */
  manual_after: integer(),
  created_at: time(),
});
export interface DeliveryRow extends RowOf<typeof deliveries> {}

export const deliveryById = deliveries.key("id");
export const deliveriesByPosition = deliveries.acrossScopes.unique("by_position", ["position"]);
/** One for each event and webhook. What an erasure goes through. */
export const deliveriesOfEvent = deliveries.byId.unique("by_event", ["event_id", "webhook_id"]);
export const deliveriesOfWebhook = deliveries.index("by_webhook", ["webhook_id", "status", "id"]);
/** What is due to be sent to a webhook, and in which order where it wants one. */
export const deliveriesDue = deliveries.byId.index("due", ["webhook_id", "next_attempt_at"], {
  where: { column: "next_attempt_at", present: true },
});
export const deliveriesInOrder = deliveries.byId.index("in_order", ["webhook_id", "position"], {
  where: { column: "next_attempt_at", present: true },
});
export const deliveriesByHand = deliveries.byId.index("by_hand", ["webhook_id", "manual_at"], {
  where: { column: "manual_at", present: true },
});

/** One request that was made, and what came of it. */
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
  /** Text, or base64 of what is no UTF-8. Null where nothing came, and when it was erased: it may quote what it was sent. */
  response_body: nullable(text()),
  response_is_base64: boolean(),
  response_truncated: boolean(),
});
export interface DeliveryAttemptRow extends RowOf<typeof deliveryAttempts> {}

export const deliveryAttemptByNumber = deliveryAttempts.key("delivery_id", "number");

/** How far along the log of deliveries their webhooks were told that there is work. */
export const bookmarks = collection("bookmarks", {
  name: text<"deliveries">(),
  position: integer(),
  moved_at: time(),
});
export interface BookmarkRow extends RowOf<typeof bookmarks> {}

export const bookmarkByName = bookmarks.key("name");
