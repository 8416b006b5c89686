import { eventResource, type EventRow } from "../events/index.ts";
import { arm } from "../queue/index.ts";
import {
  deliveries,
  deliveriesOfEvent,
  deliveryAttempts,
  type DeliveryRow,
  webhookById,
} from "./rows.ts";
import { deliverJob, mostAttemptsKept, mostWebhooks } from "./rules.ts";
import type { EventId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Leaves nothing of what webhooks were told of an event, nor of what they answered, in up to `most` deliveries; what was still to be sent
 * is not. Answers in how many: fewer than `most`, and none is left.
 */
export async function eraseDeliveries(tx: Tx, event_id: EventId, most: number): Promise<number> {
  const made = await tx.list(deliveriesOfEvent, [event_id], mostWebhooks);
  const whole = made.filter(({ body }) => body !== null).slice(0, most);
  for (const delivery of whole) {
    await forgetResponses(tx, delivery);
    const isPending = delivery.status === "pending";
    const status = isPending ? "canceled" : delivery.status;
    tx.update(deliveries, delivery, { body: null, status, next_attempt_at: null, manual_at: null });
    if (isPending) await goOnBehind(tx, delivery);
  }
  return whole.length;
}

/** Where order is kept, others may have waited for one that waited for its next attempt. */
async function goOnBehind(tx: Tx, { webhook_id }: DeliveryRow): Promise<void> {
  const webhook = await tx.get(webhookById, [webhook_id], { hold: true });
  if (webhook?.ordering === "fifo") await arm(tx, deliverJob(webhook, tx.now));
}

/** Tells webhooks of an event as it is now, where they are yet to be told or told again, and forgets what they answered. */
export async function rewriteDeliveries(tx: Tx, event: EventRow): Promise<void> {
  const body = JSON.stringify(eventResource(event));
  for (const delivery of await tx.list(deliveriesOfEvent, [event.id], mostWebhooks)) {
    if (delivery.body === null) continue;
    await forgetResponses(tx, delivery);
    tx.update(deliveries, delivery, { body });
  }
}

/** They may quote what they answer. */
async function forgetResponses(tx: Tx, { id }: DeliveryRow): Promise<void> {
  for (const attempt of await tx.list(deliveryAttempts.primary, [id], mostAttemptsKept)) {
    tx.update(deliveryAttempts, attempt, {
      response_headers: {},
      response_body: null,
      response_is_base64: false,
    });
  }
}
