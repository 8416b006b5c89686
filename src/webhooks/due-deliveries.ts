import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  type WebhookRow,
} from "../domain/webhooks/rows.ts";
import { isHandsTurn, isSending } from "../domain/webhooks/turn.ts";
import type { Index } from "../ports/collection.ts";
import type { Reads } from "../transactions/reads.ts";

export interface Room {
  readonly now: number;
  /** Deliveries that are not to be begun again: they are under way, or what came of them is not yet written down. */
  readonly held: ReadonlySet<string>;
  /** Attempts that may be begun. */
  readonly room: number;
}

/** What may be sent to a webhook now, in its order. */
export async function dueDeliveries(
  reads: Reads,
  webhook: WebhookRow,
  { now, held, room }: Room,
): Promise<readonly DeliveryRow[]> {
  if (room <= 0) return [];
  if (webhook.ordering === "fifo") return held.size > 0 ? [] : inOrder(reads, webhook, now);
  const limit = held.size + room;
  const [byHand, automatic] = await Promise.all([
    reads.range({ ...of(deliveriesByHand, webhook), limit }),
    isSending(webhook, now) ? reads.range({ ...of(deliveriesDue, webhook), until: [now + 1], limit }) : [],
  ]);
  const due = new Map([...byHand, ...automatic].map((delivery) => [delivery.id, delivery]));
  return [...due.values()].filter(({ id }) => !held.has(id)).slice(0, room);
}

/** One at a time, and the next when what came of it is written down. */
async function inOrder(reads: Reads, webhook: WebhookRow, now: number): Promise<readonly DeliveryRow[]> {
  const [[head], [byHand]] = await Promise.all([
    reads.range({ ...of(deliveriesInOrder, webhook), limit: 1 }),
    reads.range({ ...of(deliveriesByHand, webhook), limit: 1 }),
  ]);
  if (byHand !== undefined && isHandsTurn(webhook, head, byHand)) return [byHand];
  const isDue = head !== undefined && (head.next_attempt_at ?? Infinity) <= now && isSending(webhook, now);
  return isDue ? [head] : [];
}

const of = (index: Index<DeliveryRow>, { id }: WebhookRow) => ({ index, prefix: [id], order: "ascending" }) as const;
