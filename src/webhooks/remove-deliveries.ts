import {
  deliveries,
  deliveriesByPosition,
  deliveriesOfEvent,
  deliveriesOfWebhook,
  deliveryAttempts,
  type DeliveryRow,
  webhookById,
} from "./rows.ts";
import { deliverJob, maxAttemptsRead, maxWebhooks } from "./rules.ts";
import type { Seen } from "../ports/index.ts";
import { background, reread, type Tx, type UnscopedReads } from "../store/index.ts";
import { arm, disarm } from "../queue/index.ts";
import type { EventId, WebhookId } from "../kernel/index.ts";
import { eventResource, type EventRow } from "../events/index.ts";
import type { Runtime } from "../operations/index.ts";

/**
 * Removes a delivery and its attempts. An attempt that is under way is not recorded, because its
 * delivery is gone.
 */
export async function removeDelivery(tx: Tx, delivery: Seen<DeliveryRow>): Promise<void> {
  const { id } = delivery;
  const attempts = await tx.list(deliveryAttempts.primary, [id], maxAttemptsRead);
  for (const attempt of attempts) tx.remove(deliveryAttempts, attempt);
  tx.remove(deliveries, delivery);
}

/** The number of deliveries that one transaction removes, each with its attempts. */
const discardChunk = 50;

/**
 * Removes one chunk of the deliveries of a deleted webhook. Returns whether more may be left. The
 * last chunk also removes the job.
 */
export async function discardDeliveries(tx: Tx, id: WebhookId): Promise<"more" | "done"> {
  const found = await tx.list(deliveriesOfWebhook, [id], discardChunk);
  await Promise.all(found.map((delivery) => removeDelivery(tx, delivery)));
  if (found.length === discardChunk) return "more";
  await disarm(tx, { kind: "discard", key: { webhook_id: id } });
  return "done";
}

/**
 * Erases the bodies and responses of up to `limit` deliveries of an event, and cancels pending
 * deliveries. Returns the number of deliveries erased. A number below `limit` means that none is
 * left.
 */
export async function eraseDeliveries(tx: Tx, event_id: EventId, limit: number): Promise<number> {
  const all = await tx.list(deliveriesOfEvent, [event_id], maxWebhooks);
  const unerased = all.filter(({ body }) => body !== null).slice(0, limit);
  for (const delivery of unerased) {
    await eraseResponses(tx, delivery);
    const isPending = delivery.status === "pending";
    const status = isPending ? "canceled" : delivery.status;
    tx.update(deliveries, delivery, { body: null, status, next_attempt_at: null, manual_at: null });
    if (isPending) await wakeFifoWebhook(tx, delivery);
  }
  return unerased.length;
}

/**
 * Arms the job of a webhook with `fifo` ordering: deliveries may have waited for a canceled one.
 */
async function wakeFifoWebhook(tx: Tx, { webhook_id }: DeliveryRow): Promise<void> {
  const webhook = await tx.get(webhookById, [webhook_id], { hold: true });
  if (webhook?.ordering === "fifo") await arm(tx, deliverJob(webhook, tx.now));
}

/**
 * Replaces the bodies of the deliveries of an event with its current data, and erases their
 * responses.
 */
export async function rewriteDeliveries(tx: Tx, event: EventRow): Promise<void> {
  const body = JSON.stringify(eventResource(event));
  for (const delivery of await tx.list(deliveriesOfEvent, [event.id], maxWebhooks)) {
    if (delivery.body === null) continue;
    await eraseResponses(tx, delivery);
    tx.update(deliveries, delivery, { body });
  }
}

/** Erases the stored responses of a delivery, because they may quote the request. */
async function eraseResponses(tx: Tx, { id }: DeliveryRow): Promise<void> {
  for (const attempt of await tx.list(deliveryAttempts.primary, [id], maxAttemptsRead)) {
    tx.update(deliveryAttempts, attempt, {
      response_headers: {},
      response_body: null,
      response_is_base64: false,
    });
  }
}

/**
 * Removes deliveries that are older than the event retention time, whatever their status, in the
 * order of their positions, one chunk per call. Each call returns the number of rows read, or 0
 * when none of them was old enough. Later positions are younger unless the clock was set; a later
 * run removes those.
 */
export function deliveryReaper(
  { store, clock, services: { eventsKeptMs } }: Runtime,
  chunk: number,
): () => Promise<number> {
  let after = 0;
  return async () => {
    const range = {
      index: deliveriesByPosition,
      prefix: [],
      order: "ascending",
      after: [after],
      limit: chunk,
    } as const;
    const oldest = await store.unscopedReads.range(range);
    const expired = oldest.filter(({ created_at }) => created_at < clock.now() - eventsKeptMs);
    if (expired.length === 0) return 0;
    after = oldest.at(-1)?.position ?? after;
    await store.commitUnscoped(async (tx) => {
      const rows = await reread(tx, deliveriesByPosition, expired);
      await Promise.all(rows.map((row) => removeDelivery(tx.in(row), row)));
    }, background);
    return oldest.length;
  };
}

/** Returns which of these events have deliveries. */
export async function eventsWithDeliveries(
  reads: UnscopedReads,
  ids: readonly EventId[],
): Promise<readonly EventId[]> {
  const found = await reads.lists(
    deliveriesOfEvent,
    ids.map((id) => [id]),
    1,
  );
  return found.flat().map(({ event_id }) => event_id);
}
