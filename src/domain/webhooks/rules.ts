import { laneFor } from "../jobs/rules.ts";
import type { JobOrder } from "../jobs/types.ts";
import type { WebhookRow } from "./rows.ts";

/** Of an account in a mode. */
export const mostWebhooks = 1_000;

/**
 * The job that sends a webhook its deliveries, for as long as there are some: one for each webhook, in one engine at a time. What has not
 * shown that it answers has a slow lane, so that what hangs holds up nobody who doesn't.
 */
export function deliverJob(
  { account_id, mode, id, proven }: Pick<WebhookRow, "account_id" | "mode" | "id" | "proven">,
  due_at: number,
): JobOrder {
  return { kind: "deliver", key: id, account_id, mode, lane: laneFor(`webhook ${id}`, proven ? 0 : 1), due_at };
}

export const isWebhookLane = (lane: string): boolean => lane.startsWith("webhook ");
