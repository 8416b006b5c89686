import { disarm } from "../queue/index.ts";
import { deliveriesOfWebhook } from "./rows.ts";
import type { WebhookId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { removeDelivery } from "./remove-delivery.ts";

/** Deliveries that one transaction removes, each with its attempts. */
const chunk = 50;

/** Removes a part of what a deleted webhook left. Answers whether there is more; with the last part the job is done. */
export async function discardDeliveries(tx: Tx, id: WebhookId): Promise<"more" | "done"> {
  const found = await tx.list(deliveriesOfWebhook, [id], chunk);
  await Promise.all(found.map((delivery) => removeDelivery(tx, delivery)));
  if (found.length === chunk) return "more";
  await disarm(tx, { kind: "discard", key: { webhook_id: id } });
  return "done";
}
