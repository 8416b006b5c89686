import { eventResource } from "../events/resource.ts";
import { type EventRow, events } from "../events/rows.ts";
import { patternsOf } from "./filter.ts";
import { webhookPatternByName } from "./rows.ts";
import { mostWebhooks } from "./rules.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { Projection, Tx } from "../store/transaction.ts";
import { writeDelivery } from "./write-delivery.ts";

/**
 * Makes the deliveries of an event in its own transaction, with the bytes that are sent. Webhooks are found by the patterns that take the
 * event, so those that don't cost nothing. Nothing is written that other transactions write too: a host's transaction may stay open for long
 * and must not hold up who else has events for the same webhook. That there is work the webhooks are told by `delivery-reader.ts`.
 */
export function fanOut(drawId: DrawId): Projection {
  return {
    of: events,
    async project(tx, rows) {
      for (const event of rows as readonly EventRow[]) await deliver(tx.in(event), drawId, event);
    },
  };
}

async function deliver(tx: Tx, drawId: DrawId, event: EventRow): Promise<void> {
  const found = await Promise.all(
    patternsOf(event.type).map((pattern) => tx.list(webhookPatternByName, [pattern], mostWebhooks)),
  );
  const listening = found.flat();
  if (listening.length === 0) return;
  const body = JSON.stringify(eventResource(event));
  for (const { webhook_id } of listening) {
    const { id: event_id, type: event_type } = event;
    writeDelivery(tx, drawId, { webhook_id, event_id, event_type, body });
  }
}
