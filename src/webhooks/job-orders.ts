import type { JobOrder } from "../queue/index.ts";
import type { WebhookRow } from "./rows.ts";

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
