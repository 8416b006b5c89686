import { deliveries, deliveryAttempts, type DeliveryRow } from "./rows.ts";
import { mostAttemptsKept } from "./rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** Removes a delivery with what is known of its attempts. An attempt that is under way finds no delivery to be written down with. */
export async function removeDelivery(tx: Tx, delivery: Seen<DeliveryRow>): Promise<void> {
  const { id } = delivery;
  const made = await tx.list(deliveryAttempts.primary, [id], mostAttemptsKept);
  for (const attempt of made) tx.remove(deliveryAttempts, attempt);
  tx.remove(deliveries, delivery);
}
