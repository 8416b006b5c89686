import { iso, isoOrNull } from "../kernel/index.ts";
import { automaticAt, shownStatus } from "./deliveries/delivery-rules.ts";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
} from "./deliveries/delivery-types.ts";
import type { DeliveryAttemptRow, DeliveryRow, WebhookRow } from "./rows.ts";
import type { Webhook } from "./types.ts";

export function webhookResource(row: WebhookRow): Webhook {
  const { id, url, events, headers, ordering, description, status, disabled_reason } = row;
  return {
    id,
    url,
    events: [...events],
    headers: { ...headers },
    ordering,
    description,
    status,
    disabled_reason,
    failing_since: isoOrNull(row.streak?.since ?? null),
    previous_expires_at: isoOrNull(row.previous_expires_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export function deliveryResource(row: DeliveryRow, webhook: WebhookRow, now: number): Delivery {
  const { id, webhook_id, event_id, event_type, attempts, created_at } = row;
  return {
    id,
    webhook_id,
    event_id,
    event_type,
    status: shownStatus(row.status, webhook.status),
    attempt_count: attempts,
    next_attempt_at: isoOrNull(nextAttemptAt(row, webhook, now)),
    created_at: iso(created_at),
  };
}

export function withAttempts(
  row: DeliveryRow,
  webhook: WebhookRow,
  attempts: readonly DeliveryAttemptRow[],
  now: number,
): DeliveryWithAttempts {
  return { ...deliveryResource(row, webhook, now), attempts: attempts.map(attemptResource) };
}

/** Returns the earliest time of a delivery's next attempt, or null if none is scheduled. */
export function nextAttemptAt(
  delivery: DeliveryRow,
  webhook: WebhookRow,
  now: number,
): number | null {
  const at = Math.min(automaticAt(webhook, delivery, now), delivery.manual_at ?? Infinity);
  return at === Infinity ? null : at;
}

function attemptResource(row: DeliveryAttemptRow): DeliveryAttempt {
  const { id, number, manual, started_at, duration_ms, address, status_code, error } = row;
  return {
    id,
    number,
    manual,
    started_at: iso(started_at),
    duration_ms,
    address,
    status_code,
    error,
    response_headers: { ...row.response_headers },
    response_body: row.response_body,
    response_body_encoding: row.response_is_base64 ? "base64" : "utf-8",
    response_truncated: row.response_truncated,
  };
}
