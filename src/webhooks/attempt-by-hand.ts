import { bookmarkByName, type DeliveryRow } from "./rows.ts";
import { type Tx, unscoped } from "../store/index.ts";

/**
 * What asks for an attempt by hand now. In `fifo` order it joins the tail, which is as far as webhooks were told of deliveries. Whoever
 * asks holds the webhook and arms its job.
 */
export async function attemptByHand(
  tx: Tx,
): Promise<Pick<DeliveryRow, "manual_at" | "manual_after">> {
  const bookmark = await unscoped(tx).get(bookmarkByName, ["deliveries"]);
  return { manual_at: tx.now, manual_after: bookmark?.position ?? 0 };
}
