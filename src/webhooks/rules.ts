import type { JobOrder } from "../queue/index.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import type { DeliveryStatus } from "./delivery-types.ts";
import type { WebhookStatus } from "./types.ts";

/** The maximum number of webhooks per account and mode. */
export const maxWebhooks = 1_000;

/** The number of random bytes in a secret. */
export const secretBytes = 32;

/** A delivery with this many attempts accepts no further manual attempts. */
export const maxManualAttempts = 100;
/**
 * How many attempts of a delivery are read at most. Automatic attempts may exceed the limit for
 * manual ones, but never this limit.
 */
export const maxAttemptsRead = 200;

/**
 * Returns the job that sends a webhook the deliveries that are due. Each webhook has one job, which
 * one engine runs at a time. An unproven webhook gets a slow lane, so that a receiver that hangs
 * does not delay other webhooks.
 */
export function deliverJob(
  { account_id, mode, id: webhook_id, proven }: WebhookKey & Pick<WebhookRow, "proven">,
  due_at: number,
): JobOrder<"deliver"> {
  const lane = { kind: "deliver", slow: !proven, webhook_id } as const;
  return { kind: "deliver", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Returns the job that schedules failed deliveries again, one chunk at a time. */
export function recoverJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"recover"> {
  const lane = { kind: "recover", slow: false } as const;
  return { kind: "recover", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Returns the job that removes the deliveries of a deleted webhook. */
export function discardJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"discard"> {
  const lane = { kind: "discard", slow: false } as const;
  return { kind: "discard", key: { webhook_id }, account_id, mode, lane, due_at };
}

type WebhookKey = Pick<WebhookRow, "account_id" | "mode" | "id">;

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

/** Returns why a manual attempt is refused, or undefined when it is allowed. */
export function manualAttemptRefusal({
  body,
  attempts,
}: Pick<DeliveryRow, "body" | "attempts">): "erased" | "exhausted" | undefined {
  if (body === null) return "erased";
  return attempts >= maxManualAttempts ? "exhausted" : undefined;
}
