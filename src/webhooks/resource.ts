import { iso, isoOrNull } from "../kernel/index.ts";
import type { DeliveryAttemptRow, DeliveryRow, WebhookRow } from "./rows.ts";
import { shownStatus } from "./rules.ts";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  Webhook,
  WebhookStatus,
} from "./types.ts";

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
    previous_expires_at: isoOrNull(row.previous_expires_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** `webhook` is the status of the webhook that it is for. */
export function deliveryResource(row: DeliveryRow, webhook: WebhookStatus): Delivery {
  const { id, webhook_id, event_id, event_type, attempts, created_at } = row;
  return {
    id,
    webhook_id,
    event_id,
    event_type,
    status: shownStatus(row.status, webhook),
    attempt_count: attempts,
    next_attempt_at: isoOrNull(nextAttemptAt(row, webhook)),
    created_at: iso(created_at),
  };
}

export function deliveryWithAttempts(
  row: DeliveryRow,
  webhook: WebhookStatus,
  attempts: readonly DeliveryAttemptRow[],
): DeliveryWithAttempts {
  return {
    ...deliveryResource(row, webhook),
    body: row.body,
    attempts: attempts.map(attemptResource),
  };
}

function nextAttemptAt(
  { next_attempt_at, manual_at }: DeliveryRow,
  webhook: WebhookStatus,
): number | null {
  const automatic = webhook === "enabled" ? next_attempt_at : null;
  if (automatic === null || manual_at === null) return automatic ?? manual_at;
  return Math.min(automatic, manual_at);
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
