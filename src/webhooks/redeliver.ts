import { arm } from "../queue/index.ts";
import { deliveryResource } from "./resource.ts";
import { deliveries, deliveryById } from "./rows.ts";
import { deliverJob, mostAttemptsInAll, whyNotByHand } from "./rules.ts";
import { type Delivery, type DeliveryOfWebhook, deliveryOfWebhookSchema } from "./types.ts";
import { notFound, TidingsError } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { attemptByHand } from "./attempt-by-hand.ts";
import { webhookToChange } from "./find-to-change.ts";

/** Sends a delivery once more, whatever became of it. While that is asked for, to ask again changes nothing. */
export const redeliver: Command<DeliveryOfWebhook, Delivery> = {
  kind: "command",
  name: "webhooks.redeliver",
  input: () => deliveryOfWebhookSchema,
  status: 202,
  async run(tx, { id, delivery_id }) {
    const webhook = await webhookToChange(tx, id, { hold: true });
    const delivery = await tx.get(deliveryById, [delivery_id]);
    if (delivery?.webhook_id !== webhook.id) throw notFound("delivery");
    const reason = whyNotByHand(delivery);
    if (reason !== undefined) throw new TidingsError("conflict", refusals[reason]);
    if (delivery.manual_at !== null) return deliveryResource(delivery, webhook.status);
    const asked = tx.update(deliveries, delivery, await attemptByHand(tx));
    await arm(tx, deliverJob(webhook, tx.now));
    return deliveryResource(asked, webhook.status);
  },
};

const refusals = {
  erased: "What it told of was erased: there is nothing to send.",
  exhausted: `It has had ${mostAttemptsInAll} attempts, and gets no more.`,
} as const;
