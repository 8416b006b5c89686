import type { ScopedIndex } from "../../ports/index.ts";
import type { Reads, Tx } from "../../store/index.ts";
import { automaticAt } from "../deliveries/delivery-rules.ts";
import {
  deliveriesDue,
  deliveriesInOrder,
  manualDeliveries,
  type DeliveryRow,
  type WebhookRow,
} from "../rows.ts";
import { pausedUntil } from "../rules.ts";

interface DueOptions {
  readonly now: number;
  /** Deliveries to leave out: already read, under way, or not yet recorded. */
  readonly excluded: ReadonlySet<string>;
  /** The maximum number of deliveries to return; at least 1. */
  readonly limit: number;
  /** Whether an attempt of the schedule goes before a manual one. Applies to `fifo` ordering. */
  readonly isAutomaticNext: boolean;
}

/** Returns the deliveries that may be sent to a webhook now, in sending order. */
export async function dueDeliveries(
  reads: Reads,
  webhook: WebhookRow,
  { now, excluded, limit: maxDue, isAutomaticNext }: DueOptions,
): Promise<readonly DeliveryRow[]> {
  const limit = excluded.size + maxDue;
  const [manual, automatic] = await Promise.all([
    reads.range({ ...rangeOf(manualDeliveries, webhook), limit }),
    webhook.ordering === "fifo"
      ? reads.range({ ...rangeOf(deliveriesInOrder, webhook), limit })
      : reads.range({ ...rangeOf(deliveriesDue, webhook), until: [now + 1], limit }),
  ]);
  const due =
    webhook.ordering === "fifo"
      ? inOrder(webhook, automatic, manual, { now, isAutomaticNext })
      : inAnyOrder(webhook, automatic, manual, now);
  return due.filter(({ id }) => !excluded.has(id)).slice(0, maxDue);
}

/**
 * Returns manual and automatic deliveries alternately. A recovery can request many manual attempts,
 * which would otherwise hold up new events, and a backlog would hold up a manual attempt.
 */
function inAnyOrder(webhook: WebhookRow, automatic: Rows, manual: Rows, now: number): Rows {
  if (!isSending(webhook, now)) return manual;
  const length = Math.max(manual.length, automatic.length);
  const alternating = Array.from({ length }, (_, i) => [manual[i], automatic[i]]).flat();
  const due = alternating.filter((delivery) => delivery !== undefined);
  return [...new Map(due.map((delivery) => [delivery.id, delivery])).values()];
}

/**
 * Returns a manual delivery if the order allows it, or the first automatic one if that is due and
 * it is next: a recovery can request many manual attempts. Otherwise returns the automatic ones
 * before the first manual one, up to the first that is not due, or none while the webhook is not
 * sending.
 */
function inOrder(
  webhook: WebhookRow,
  automatic: Rows,
  [manual]: Rows,
  { now, isAutomaticNext }: Pick<DueOptions, "now" | "isAutomaticNext">,
): Rows {
  const [head] = automatic;
  const allowed = allowedManual(webhook, head, manual);
  if (allowed !== undefined) {
    const mayGo = isAutomaticNext && head !== undefined && automaticAt(webhook, head, now) <= now;
    return [mayGo ? head : allowed];
  }
  const isDue = ({ next_attempt_at, position }: DeliveryRow): boolean =>
    (next_attempt_at ?? Infinity) <= now && position <= (manual?.manual_after ?? Infinity);
  const first = automatic.findIndex((delivery) => !isDue(delivery));
  if (!isSending(webhook, now)) return [];
  return first === -1 ? automatic : automatic.slice(0, first);
}

type Rows = readonly DeliveryRow[];

const rangeOf = (index: ScopedIndex<DeliveryRow>, { id }: WebhookRow) =>
  ({ index, prefix: [id], order: "ascending" }) as const;

/**
 * Returns the delivery that may get its manual attempt now, if there is one. With `fifo` ordering,
 * the attempt waits until the automatic deliveries that existed when it was requested have ended. A
 * request for the first of these does not wait. Nothing waits while the webhook is not enabled.
 * @param head the first automatic delivery
 * @param manual the first manual delivery
 */
function allowedManual(
  { ordering, status }: Pick<WebhookRow, "ordering" | "status">,
  head: DeliveryRow | undefined,
  manual: DeliveryRow | undefined,
): DeliveryRow | undefined {
  if (ordering === "none" || status !== "enabled" || head === undefined) return manual;
  if (manual !== undefined && manual.manual_after < head.position) return manual;
  return head.manual_at === null ? undefined : head;
}

/** Returns when the next delivery of a webhook is due, or Infinity when none is left. */
export async function nextDeliveryAt(tx: Tx, webhook: WebhookRow): Promise<number> {
  const [[next], [manual]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(manualDeliveries, [webhook.id], 1),
  ]);
  const isAllowed = allowedManual(webhook, next, manual) !== undefined;
  const automatic = next === undefined ? Infinity : automaticAt(webhook, next, tx.now);
  return Math.min(automatic, isAllowed ? tx.now : Infinity);
}

/** Whether automatic attempts may be made at this time. */
function isSending(webhook: Pick<WebhookRow, "status" | "paused_until">, now: number): boolean {
  return webhook.status === "enabled" && pausedUntil(webhook, now) <= now;
}
