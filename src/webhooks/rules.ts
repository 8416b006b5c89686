import { laneFor } from "../queue/rules.ts";
import type { JobOrder } from "../queue/types.ts";
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
 * The job that sends a webhook its deliveries, for as long as there are some: one for each webhook, in one engine at a time. What has not
 * shown that it answers has a slow lane, so that what hangs holds up nobody who doesn't.
 */
export function deliverJob(
  { account_id, mode, id, proven }: Pick<WebhookRow, "account_id" | "mode" | "id" | "proven">,
  due_at: number,
): JobOrder {
  return {
    kind: "deliver",
    key: id,
    account_id,
    mode,
    lane: laneFor(`webhook ${id}`, proven ? 0 : 1),
    due_at,
  };
}

/** Asks again for what failed, a stretch at a time. */
export function recoverJob({ account_id, mode, id }: WebhookRow, due_at: number): JobOrder {
  return { kind: "recover", key: id, account_id, mode, lane: "recover", due_at };
}

/** Removes the deliveries that a deleted webhook leaves. */
export function discardJob(
  { account_id, mode, id }: Pick<WebhookRow, "account_id" | "mode" | "id">,
  due_at: number,
): JobOrder {
  return { kind: "discard", key: id, account_id, mode, lane: "discard", due_at };
}

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
