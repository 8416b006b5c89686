import { eventResource } from "../domain/events/resource.ts";
import { sampleData } from "../domain/events/samples.ts";
import { arm } from "../domain/jobs/rows.ts";
import { typesOf } from "../domain/webhooks/filter.ts";
import { deliveryResource } from "../domain/webhooks/resource.ts";
import { deliveries } from "../domain/webhooks/rows.ts";
import { deliverJob } from "../domain/webhooks/rules.ts";
import { type Delivery, type TestWebhook, testWebhookSchema } from "../domain/webhooks/types.ts";
import type { Command } from "../operation.ts";
import { attemptByHand } from "./steps/attempt-by-hand.ts";
import { webhookToChange } from "./steps/webhook-to-change.ts";
import { writeDelivery } from "./steps/write-delivery.ts";

/** Sends an endpoint one sample event, once, whatever its status. Nobody else hears of it: it is in no log of events. */
export const testWebhook: Command<TestWebhook, Delivery> = {
  kind: "command",
  name: "webhooks.test",
  input: () => testWebhookSchema,
  status: 202,
  async run(tx, { id, type }, { scope, services: { drawId } }) {
    const webhook = await webhookToChange(tx, scope, id, { hold: true });
    const [first = "message.received"] = typesOf(webhook.events);
    const event_type = type ?? first;
    const event_id = drawId("evt");
    const data = sampleData(event_type, { now: tx.now });
    const body = JSON.stringify(
      eventResource({ id: event_id, type: event_type, created_at: tx.now, data }),
    );
    const made = writeDelivery(tx, drawId, {
      ...scope,
      webhook_id: webhook.id,
      event_id,
      event_type,
      body,
    });
    const delivery = tx.update(deliveries, made, {
      ...(await attemptByHand(tx)),
      next_attempt_at: null,
    });
    await arm(tx, deliverJob(webhook, tx.now));
    return deliveryResource(delivery, webhook.status);
  },
};
