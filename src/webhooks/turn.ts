import type { DeliveryRow, WebhookRow } from "./rows.ts";

type Place = Pick<DeliveryRow, "position">;

/**
 * Whether an attempt by hand may be made. Where order is kept it joins the tail: it waits until the automatic ones that were there are
 * through, unless none goes out anyway. `head` is the first of those.
 */
export function isHandsTurn(
  { ordering, status }: Pick<WebhookRow, "ordering" | "status">,
  head: Place | undefined,
  byHand: Pick<DeliveryRow, "manual_after">,
): boolean {
  if (ordering === "none" || status !== "enabled" || head === undefined) return true;
  return head.position > byHand.manual_after;
}

/** Whether automatic attempts go out at this time. */
export function isSending(
  { status, paused_until }: Pick<WebhookRow, "status" | "paused_until">,
  now: number,
): boolean {
  return status === "enabled" && (paused_until ?? 0) <= now;
}
