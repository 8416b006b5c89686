import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  type WebhookRow,
} from "./rows.ts";
import { isHandsTurn, isSending } from "./turn.ts";
import type { ScopedIndex } from "../ports/index.ts";
import type { Reads } from "../store/index.ts";

export interface DueOptions {
  readonly now: number;
  /** Deliveries to leave out: at hand, under way, or not yet recorded. */
  readonly known: ReadonlySet<string>;
  /** How many deliveries are returned at most; at least 1. */
  readonly limit: number;
}

/** The deliveries that may be sent to a webhook now, in its order. */
export async function dueDeliveries(
  reads: Reads,
  webhook: WebhookRow,
  { now, known, limit: wanted }: DueOptions,
): Promise<readonly DeliveryRow[]> {
  const limit = known.size + wanted;
  const [byHand, automatic] = await Promise.all([
    reads.range({ ...of(deliveriesByHand, webhook), limit }),
    webhook.ordering === "fifo"
      ? reads.range({ ...of(deliveriesInOrder, webhook), limit })
      : reads.range({ ...of(deliveriesDue, webhook), until: [now + 1], limit }),
  ]);
  const due =
    webhook.ordering === "fifo"
      ? inOrder(webhook, automatic, byHand, now)
      : inAnyOrder(webhook, automatic, byHand, now);
  return due.filter(({ id }) => !known.has(id)).slice(0, wanted);
}

function inAnyOrder(webhook: WebhookRow, automatic: Rows, byHand: Rows, now: number): Rows {
  const due = isSending(webhook, now) ? [...byHand, ...automatic] : byHand;
  return [...new Map(due.map((delivery) => [delivery.id, delivery])).values()];
}

/** The delivery by hand when the order allows it; otherwise the automatic ones before it, up to the first that is not due. */
function inOrder(webhook: WebhookRow, automatic: Rows, [byHand]: Rows, now: number): Rows {
  if (byHand !== undefined && isHandsTurn(webhook, automatic[0], byHand)) return [byHand];
  const isDue = ({ next_attempt_at, position }: DeliveryRow): boolean =>
    (next_attempt_at ?? Infinity) <= now && position <= (byHand?.manual_after ?? Infinity);
  const first = automatic.findIndex((delivery) => !isDue(delivery));
  if (!isSending(webhook, now)) return [];
  return first === -1 ? automatic : automatic.slice(0, first);
}

type Rows = readonly DeliveryRow[];

const of = (index: ScopedIndex<DeliveryRow>, { id }: WebhookRow) =>
  ({ index, prefix: [id], order: "ascending" }) as const;
