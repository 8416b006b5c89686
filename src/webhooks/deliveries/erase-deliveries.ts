/** Erasures and redactions of deliveries. */
import { eventResource, type EventRow } from "../../events/index.ts";
import type { EventId } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { deliverJob } from "../job-orders.ts";
import {
  deliveries,
  deliveriesOfEvent,
  deliveryAttempts,
  maxWebhooks,
  webhookById,
  type DeliveryRow,
} from "../rows.ts";
import { attemptsOf } from "./remove-deliveries.ts";

/**
 * Erases the bodies and responses of deliveries of events, and cancels pending deliveries. Writes
 * about `room` rows, in a number of round trips that does not grow with them. Returns how many
 * events, from the first one on, have no delivery left to erase.
 */
export async function eraseDeliveries(
  tx: Tx,
  events: readonly EventId[],
  room: number,
): Promise<number> {
  const { chosen, complete } = chooseUnerased(await deliveriesOfEvents(tx, events, room), room);
  const pending = chosen.filter(({ status }) => status === "pending");
  await Promise.all([eraseResponses(tx, chosen), wakeFifoWebhooks(tx, pending)]);
  for (const delivery of chosen) {
    const status = delivery.status === "pending" ? "canceled" : delivery.status;
    tx.update(deliveries, delivery, { body: null, status, next_attempt_at: null, manual_at: null });
  }
  return complete;
}

/**
 * Chooses deliveries to erase, in the order of their events, until `room` rows are to be written.
 * `complete` counts the events whose deliveries are then all erased.
 */
function chooseUnerased(
  ofEvents: readonly DeliveriesOfEvent[],
  room: number,
): { readonly chosen: readonly Seen<DeliveryRow>[]; readonly complete: number } {
  const chosen: Seen<DeliveryRow>[] = [];
  let rows = 0;
  for (const [complete, { found, isAll }] of ofEvents.entries()) {
    for (const delivery of found) {
      if (delivery.body === null) continue;
      if (rows >= room) return { chosen, complete };
      rows += 1 + delivery.attempts;
      chosen.push(delivery);
    }
    if (!isAll) return { chosen, complete };
  }
  return { chosen, complete: ofEvents.length };
}

interface DeliveriesOfEvent {
  readonly found: readonly Seen<DeliveryRow>[];
  /** Whether these are all deliveries of the event. */
  readonly isAll: boolean;
}

/**
 * Returns all deliveries of the first event, and those of as many further events as probably have
 * `room` deliveries together. The events of a contact mostly go to the same webhooks. Of a further
 * event that has more deliveries than the first one, only some are returned.
 */
async function deliveriesOfEvents(
  tx: Tx,
  [first, ...others]: readonly EventId[],
  room: number,
): Promise<readonly DeliveriesOfEvent[]> {
  if (first === undefined) return [];
  const found = await tx.list(deliveriesOfEvent, [first], maxWebhooks);
  // A list that is shorter than this has all deliveries of its event.
  const limit = found.length + 1;
  const next = others.slice(0, Math.floor(room / limit));
  const ofNext = await Promise.all(next.map((id) => tx.list(deliveriesOfEvent, [id], limit)));
  return [
    { found, isAll: true },
    ...ofNext.map((rows) => ({ found: rows, isAll: rows.length < limit })),
  ];
}

/** Arms the jobs of webhooks with `fifo` ordering: deliveries may have waited for canceled ones. */
async function wakeFifoWebhooks(tx: Tx, canceled: readonly DeliveryRow[]): Promise<void> {
  const ids = [...new Set(canceled.map(({ webhook_id }) => webhook_id))];
  // Held: a webhook that gets `fifo` ordering meanwhile must find the canceled deliveries.
  const found = await Promise.all(ids.map((id) => tx.get(webhookById, [id], { hold: true })));
  await Promise.all(
    found.map(async (webhook) => {
      if (webhook?.ordering === "fifo") await arm(tx, deliverJob(webhook, tx.now));
    }),
  );
}

/**
 * Replaces the bodies of the deliveries of events with the events' current data, and erases their
 * responses.
 */
export async function rewriteDeliveries(tx: Tx, events: readonly EventRow[]): Promise<void> {
  const found = await Promise.all(
    events.map(({ id }) => tx.list(deliveriesOfEvent, [id], maxWebhooks)),
  );
  const unerased = found.map((rows) => rows.filter(({ body }) => body !== null));
  await eraseResponses(tx, unerased.flat());
  for (const [i, event] of events.entries()) {
    const body = JSON.stringify(eventResource(event));
    for (const delivery of unerased[i] ?? []) tx.update(deliveries, delivery, { body });
  }
}

/** Erases the stored responses of deliveries, because they may quote the request. */
async function eraseResponses(tx: Tx, of: readonly DeliveryRow[]): Promise<void> {
  for (const attempt of await attemptsOf(tx, of)) {
    const { response_headers, response_body } = attempt;
    if (response_body === null && Object.keys(response_headers).length === 0) continue;
    tx.update(deliveryAttempts, attempt, {
      response_headers: {},
      response_body: null,
      response_is_base64: false,
    });
  }
}
