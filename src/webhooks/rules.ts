import type { JobOrder } from "../queue/index.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import type { DeliveryStatus, WebhookStatus } from "./types.ts";

/** Of an account in a mode. */
export const mostWebhooks = 1_000;

/** Of the randomness in a secret. */
export const secretBytes = 32;

/** Of a delivery; from then on none is made by hand. */
export const mostAttemptsInAll = 100;
/** More than a delivery ever has: automatic ones may come besides. */
export const mostAttemptsKept = 200;

/**
 * Sends a webhook the deliveries that are due. There is one job for each webhook, in one engine at a time. A webhook that has
 * not shown that it answers has a slow lane, so that receivers that hang do not delay the others.
 */
export function deliverJob(
  { account_id, mode, id: webhook_id, proven }: WebhookKey & Pick<WebhookRow, "proven">,
  due_at: number,
): JobOrder<"deliver"> {
  const lane = { kind: "deliver", slow: !proven, webhook_id } as const;
  return { kind: "deliver", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Schedules the failed deliveries of a range again, a chunk at a time. */
export function recoverJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"recover"> {
  const lane = { kind: "recover", slow: false } as const;
  return { kind: "recover", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Removes the deliveries of a deleted webhook. */
export function discardJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"discard"> {
  const lane = { kind: "discard", slow: false } as const;
  return { kind: "discard", key: { webhook_id }, account_id, mode, lane, due_at };
}

type WebhookKey = Pick<WebhookRow, "account_id" | "mode" | "id">;

/** What isn't sent for its webhook's sake is parked: it goes out when that is enabled again. */
export function shownStatus(status: DeliveryRow["status"], webhook: WebhookStatus): DeliveryStatus {
  return status === "pending" && webhook !== "enabled" ? "parked" : status;
}

/** The statuses of the rows that are shown with that one, or with any. */
export function storedStatuses(
  shown: DeliveryStatus | undefined,
  webhook: WebhookStatus,
): DeliveryRow["status"][] {
  const stored = ["pending", "succeeded", "failed", "canceled"] as const;
  return stored.filter((status) => shown === undefined || shownStatus(status, webhook) === shown);
}

/** Why no attempt can be made by hand; undefined: one can. */
export function whyNotByHand({
  body,
  attempts,
}: Pick<DeliveryRow, "body" | "attempts">): "erased" | "exhausted" | undefined {
  if (body === null) return "erased";
  return attempts >= mostAttemptsInAll ? "exhausted" : undefined;
}
