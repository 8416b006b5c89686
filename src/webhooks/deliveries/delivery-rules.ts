/** Which status a delivery shows, and which attempts it still gets. */
import type { DeliveryRow, WebhookRow } from "../rows.ts";
import { pausedUntil } from "../rules.ts";
import type { WebhookStatus } from "../types.ts";
import type { DeliveryStatus } from "./delivery-types.ts";

/**
 * Returns the status that the API shows. A pending delivery is shown as `parked` while its webhook
 * is not enabled.
 */
export function shownStatus(status: DeliveryRow["status"], webhook: WebhookStatus): DeliveryStatus {
  return status === "pending" && webhook !== "enabled" ? "parked" : status;
}

/** Returns the stored statuses that the API shows as `wanted`, or all if it is undefined. */
export function storedStatuses(
  wanted: DeliveryStatus | undefined,
  webhook: WebhookStatus,
): DeliveryRow["status"][] {
  const stored = ["pending", "succeeded", "failed", "canceled"] as const;
  return stored.filter((status) => wanted === undefined || shownStatus(status, webhook) === wanted);
}

/**
 * Returns the earliest time of a delivery's next automatic attempt, or Infinity if none is
 * scheduled.
 */
export function automaticAt(
  webhook: Pick<WebhookRow, "status" | "paused_until">,
  { next_attempt_at }: Pick<DeliveryRow, "next_attempt_at">,
  now: number,
): number {
  if (webhook.status !== "enabled" || next_attempt_at === null) return Infinity;
  return Math.max(next_attempt_at, pausedUntil(webhook, now));
}

/** A delivery with this many attempts accepts no further manual attempts. */
export const maxManualAttempts = 100;

/** Returns why a manual attempt is refused, or undefined when it is allowed. */
export function manualAttemptRefusal({
  body,
  attempts,
}: Pick<DeliveryRow, "body" | "attempts">): "erased" | "exhausted" | undefined {
  if (body === null) return "erased";
  return attempts >= maxManualAttempts ? "exhausted" : undefined;
}
