import { notFound, TidingsError } from "../../kernel/index.ts";
import { showsOutput, type Command } from "../../operations/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { requireWebhook } from "../commands.ts";
import { deliverJob } from "../job-orders.ts";
import { deliveries, deliveryById, type DeliveryRow } from "../rows.ts";
import { deliveryResource } from "../show.ts";
import { manualAttemptRefusal, maxManualAttempts } from "./delivery-rules.ts";
import {
  deliveryOfWebhookSchema,
  type Delivery,
  type DeliveryOfWebhook,
} from "./delivery-types.ts";
import { followedPosition } from "./webhook-waker.ts";

/**
 * Requests a manual attempt of a delivery, whatever its status. With `fifo` ordering, the attempt
 * waits for pending deliveries before it. A second request before the attempt of the first one is
 * recorded changes nothing.
 */
export const redeliver: Command<DeliveryOfWebhook, Delivery> = {
  kind: "command",
  name: "webhooks.redeliver",
  input: () => deliveryOfWebhookSchema,
  status: 202,
  shows: showsOutput,
  async run(tx, { id, delivery_id }) {
    const webhook = await requireWebhook(tx, id, { hold: true });
    const delivery = await tx.get(deliveryById, [delivery_id]);
    if (delivery?.webhook_id !== webhook.id) throw notFound("delivery", delivery_id);
    const reason = manualAttemptRefusal(delivery);
    if (reason !== undefined) throw new TidingsError("conflict", refusals[reason]);
    if (delivery.manual_at !== null) return deliveryResource(delivery, webhook, tx.now);
    const updated = tx.update(deliveries, delivery, await manualRequest(tx));
    await arm(tx, deliverJob(webhook, tx.now));
    return deliveryResource(updated, webhook, tx.now);
  },
};

const refusals = {
  erased: "The delivery's content was erased, so it cannot be sent again.",
  exhausted:
    `The delivery reached the limit of ${maxManualAttempts} attempts, so it cannot be sent ` +
    "again.",
} as const;

/**
 * Returns the columns that request a manual attempt now. In `fifo` order the attempt waits for the
 * deliveries up to the cursor. The caller must hold the webhook and arm its job.
 */
export async function manualRequest(
  tx: Tx,
): Promise<Pick<DeliveryRow, "manual_at" | "manual_after">> {
  return { manual_at: tx.now, manual_after: await followedPosition(tx) };
}
