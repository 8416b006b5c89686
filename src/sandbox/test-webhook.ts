import { eventResource } from "../events/resource.ts";
import { sampleData } from "./event-samples.ts";
import { arm } from "../queue/rows.ts";
import { typesOf } from "../webhooks/filter.ts";
import { deliveryResource } from "../webhooks/resource.ts";
import { deliveries } from "../webhooks/rows.ts";
import { deliverJob } from "../webhooks/rules.ts";
import { type Delivery, type TestWebhook, testWebhookSchema } from "../webhooks/types.ts";
import type { Command } from "../operations/operation.ts";
import { attemptByHand } from "../webhooks/attempt-by-hand.ts";
import { webhookToChange } from "../webhooks/find-to-change.ts";
import { writeDelivery } from "../webhooks/write-delivery.ts";

/** Sends an endpoint one sample event, once, whatever its status. Nobody else hears of it: it is in no log of events. */
export const testWebhook: Command<TestWebhook, Delivery> = {
  kind: "command",
  name: "webhooks.test",
  input: () => testWebhookSchema,
  status: 202,
  async run(tx, { id, type }, { services: { drawId } }) {
    const webhook = await webhookToChange(tx, id, { hold: true });
    const [first = "message.received"] = typesOf(webhook.events);
    const event_type = type ?? first;
    const event_id = drawId("evt");
    const data = sampleData(event_type, { now: tx.now });
    const body = JSON.stringify(
      eventResource({ id: event_id, type: event_type, created_at: tx.now, data }),
    );
    const made = writeDelivery(tx, drawId, {
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
