import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  webhookById,
  type WebhookRow,
} from "../domain/webhooks/rows.ts";
import { isHandsTurn, isSending } from "../domain/webhooks/turn.ts";
import type { Index } from "../ports/collection.ts";
import type { Scope } from "../scope.ts";
import type { Reads } from "../transactions/reads.ts";

export interface Room {
  readonly now: number;
  /** Deliveries that are not to be begun again: they are under way, or what came of them is not yet written down. */
  readonly held: ReadonlySet<string>;
  /** Attempts that may be begun. */
  readonly room: number;
}

export interface DueDeliveries {
  /** Undefined when it is gone. */
  readonly webhook: WebhookRow | undefined;
  readonly due: readonly DeliveryRow[];
}

/** What may be sent to a webhook now, in its order. Read anew before each attempt: it may be paused, or a delivery erased, at any time. */
export async function dueDeliveries(
  reads: Reads,
  scope: Scope,
  id: string,
  { now, held, room }: Room,
): Promise<DueDeliveries> {
  const webhook = await reads.get(webhookById, [scope.account_id, scope.mode, id]);
  if (webhook === undefined || room <= 0) return { webhook, due: [] };
  if (webhook.ordering === "fifo") return { webhook, due: held.size > 0 ? [] : await inOrder(reads, webhook, now) };
  const limit = held.size + room;
  const [byHand, automatic] = await Promise.all([
    reads.range({ ...of(deliveriesByHand, id), limit }),
    isSending(webhook, now) ? reads.range({ ...of(deliveriesDue, id), until: [now + 1], limit }) : [],
  ]);
  const due = new Map([...byHand, ...automatic].map((delivery) => [delivery.id, delivery]));
  return { webhook, due: [...due.values()].filter((delivery) => !held.has(delivery.id)).slice(0, room) };
}

/** One at a time, and the next when what came of it is written down. */
async function inOrder(reads: Reads, webhook: WebhookRow, now: number): Promise<readonly DeliveryRow[]> {
  const [[head], [byHand]] = await Promise.all([
    reads.range({ ...of(deliveriesInOrder, webhook.id), limit: 1 }),
    reads.range({ ...of(deliveriesByHand, webhook.id), limit: 1 }),
  ]);
  if (byHand !== undefined && isHandsTurn(webhook, head, byHand)) return [byHand];
  const isDue = head !== undefined && (head.next_attempt_at ?? Infinity) <= now && isSending(webhook, now);
  return isDue ? [head] : [];
}

const of = (index: Index<DeliveryRow>, id: string) => ({ index, prefix: [id], order: "ascending" }) as const;
