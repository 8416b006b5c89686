import { eventResource, type EventRow, events } from "../events/index.ts";
import { patternsOf } from "./filter.ts";
import { webhookPatternByName } from "./rows.ts";
import { mostWebhooks } from "./rules.ts";
import type { DrawId } from "../kernel/index.ts";
import type { Projection, Tx } from "../store/index.ts";
import { writeDelivery } from "./write-delivery.ts";

/**
 * Creates the deliveries of an event in the event's transaction, with the bytes that are sent. Webhooks are found by the
 * patterns that match the event, so webhooks that do not match cost nothing. The transaction writes no row that other
 * transactions write too: the host application may keep its transaction open for long, and must not delay other events for the
 * same webhook. `delivery-reader.ts` arms the webhooks' jobs.
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
  const matching = found.flat();
  if (matching.length === 0) return;
  const body = JSON.stringify(eventResource(event));
  for (const { webhook_id } of matching) {
    const { id: event_id, type: event_type } = event;
    writeDelivery(tx, drawId, { webhook_id, event_id, event_type, body });
  }
}
