import { eventResource } from "../events/index.ts";
import { sampleData } from "./event-samples.ts";
import { arm } from "../queue/index.ts";
import {
  attemptByHand,
  deliveries,
  deliverJob,
  type Delivery,
  deliveryResource,
  type TestWebhook,
  testWebhookSchema,
  typesOf,
  webhookToChange,
  writeDelivery,
} from "../webhooks/index.ts";
import type { Command } from "../operations/index.ts";

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
