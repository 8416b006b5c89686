/**
 * A webhook is an endpoint that is told of events. A *delivery* is one event for one endpoint: made in the transaction that makes the event,
 * with the bytes that are sent. An *attempt* is one request.
 */
import type { AccountId, AttemptId, DeliveryId, EventId, WebhookId } from "../kernel/ids.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  position,
  text,
  time,
} from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { EventType } from "../events/types.ts";
import type { FailingStreak } from "./failing.ts";
import type { PastAttempt } from "./schedule.ts";
import type { DeliveryStatus, WebhookOrdering, WebhookStatus } from "./types.ts";

export interface WebhookRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: WebhookId;
  /** A number of its own among the account's, below `mostWebhooks`: so there are never more, whatever races. */
  readonly slot: number;
  readonly url: string;
  /** Its filter, as it was given. */
  readonly events: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly ordering: WebhookOrdering;
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly disabled_reason: string | null;
  /** As its owner has it: signing needs it whole. */
  readonly secret: string;
  /** Signs too until `previous_expires_at`. */
  readonly previous_secret: string | null;
  readonly previous_expires_at: number | null;
  /** Its last automatic attempt succeeded: what can't be said of a new one, nor of one that has just come back. */
  readonly proven: boolean;
  /** Since when its automatic attempts fail, where they do. */
  readonly streak: FailingStreak | null;
  /** It asked to be left alone until then. */
  readonly paused_until: number | null;
  /** Its failed deliveries with higher ids are yet to be asked for by hand; null: nobody wished for that. */
  readonly recover_after: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export const webhooks = collection<WebhookRow>("webhooks", {
  account_id: text,
  mode: text,
  id: text,
  slot: integer,
  url: text,
  events: json,
  headers: json,
  ordering: text,
  description: nullable(text),
  status: text,
  disabled_reason: nullable(text),
  secret: text,
  previous_secret: nullable(text),
  previous_expires_at: nullable(time),
  proven: boolean,
  streak: nullable(json),
  paused_until: nullable(time),
  recover_after: nullable(text),
  created_at: time,
  updated_at: time,
});
export const webhookById = webhooks.key("account_id", "mode", "id");
export const webhookBySlot = webhooks.unique("by_slot", ["account_id", "mode", "slot"]);

/** A pattern of a webhook's filter, without those that another of its patterns covers. Written together with the webhook. */
export interface WebhookPatternRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly pattern: string;
  readonly webhook_id: WebhookId;
}

export const webhookPatterns = collection<WebhookPatternRow>("webhook_patterns", {
  account_id: text,
  mode: text,
  pattern: text,
  webhook_id: text,
});
export const webhookPatternByName = webhookPatterns.key(
  "account_id",
  "mode",
  "pattern",
  "webhook_id",
);

export interface DeliveryRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: DeliveryId;
  /** Of all deliveries, in the order of the commits that brought them: what a webhook in `fifo` order keeps to. */
  readonly position: number;
  readonly webhook_id: WebhookId;
  readonly event_id: EventId;
  readonly event_type: EventType;
  /** While its webhook isn't enabled, a pending one is shown as parked. */
  readonly status: Exclude<DeliveryStatus, "parked">;
  /** The event as it is sent; null when it was erased. */
  readonly body: string | null;
  /** How many there were, those by hand included. */
  readonly attempts: number;
  /** The automatic attempts. */
  readonly history: readonly PastAttempt[];
  /** The wait before the next automatic attempt, as it was planned. */
  readonly wait_ms: number;
  /** When the next automatic attempt is due; null when none is to come. */
  readonly next_attempt_at: number | null;
  /** Since when an attempt by hand is asked for. */
  readonly manual_at: number | null;
  /** In `fifo` order that attempt waits for the automatic deliveries up to this position. */
  readonly manual_after: number;
  readonly created_at: number;
}

export const deliveries = collection<DeliveryRow>("deliveries", {
  account_id: text,
  mode: text,
  id: text,
  position,
  webhook_id: text,
  event_id: text,
  event_type: text,
  status: text,
  body: nullable(text),
  attempts: integer,
  history: json,
  wait_ms: integer,
  next_attempt_at: nullable(time),
  manual_at: nullable(time),
  manual_after: integer,
  created_at: time,
});
export const deliveryById = deliveries.key("account_id", "mode", "id");
export const deliveriesByPosition = deliveries.unique("by_position", ["position"]);
/** One for each event and webhook. What an erasure goes through. */
export const deliveriesOfEvent = deliveries.unique("by_event", ["event_id", "webhook_id"]);
export const deliveriesOfWebhook = deliveries.index("by_webhook", [
  "account_id",
  "mode",
  "webhook_id",
  "status",
  "id",
]);
/** What is due to be sent to a webhook, and in which order where it wants one. */
export const deliveriesDue = deliveries.index("due", ["webhook_id", "next_attempt_at"], {
  where: { column: "next_attempt_at", present: true },
});
export const deliveriesInOrder = deliveries.index("in_order", ["webhook_id", "position"], {
  where: { column: "next_attempt_at", present: true },
});
export const deliveriesByHand = deliveries.index("by_hand", ["webhook_id", "manual_at"], {
  where: { column: "manual_at", present: true },
});

/** One request that was made, and what came of it. */
export interface DeliveryAttemptRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly delivery_id: DeliveryId;
  readonly number: number;
  readonly id: AttemptId;
  readonly manual: boolean;
  readonly started_at: number;
  readonly duration_ms: number;
  readonly address: string | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response_headers: Readonly<Record<string, string>>;
  /** Text, or base64 of what is no UTF-8. Null where nothing came, and when it was erased: it may quote what it was sent. */
  readonly response_body: string | null;
  readonly response_is_base64: boolean;
  readonly response_truncated: boolean;
}

export const deliveryAttempts = collection<DeliveryAttemptRow>("delivery_attempts", {
  account_id: text,
  mode: text,
  delivery_id: text,
  number: integer,
  id: text,
  manual: boolean,
  started_at: time,
  duration_ms: integer,
  address: nullable(text),
  status_code: nullable(integer),
  error: nullable(text),
  response_headers: json,
  response_body: nullable(text),
  response_is_base64: boolean,
  response_truncated: boolean,
});
export const deliveryAttemptByNumber = deliveryAttempts.key(
  "account_id",
  "mode",
  "delivery_id",
  "number",
);

/** How far along the log of deliveries their webhooks were told that there is work. */
export interface BookmarkRow {
  readonly name: "deliveries";
  readonly position: number;
  readonly moved_at: number;
}

export const bookmarks = collection<BookmarkRow>("bookmarks", {
  name: text,
  position: integer,
  moved_at: time,
});
export const bookmarkByName = bookmarks.key("name");
