import { eventResource, events, type EventRow } from "../../events/index.ts";
import type { Seen } from "../../ports/index.ts";
import { isIn, rowsInScope, type Projection, type Tx } from "../../store/index.ts";
import { patternsOf } from "../event-patterns.ts";
import {
  deliveries,
  maxWebhooks,
  webhookPatternByName,
  type DeliveryRow,
  type WebhookPatternRow,
} from "../rows.ts";

/** One read returns all patterns of an account and mode that has fewer than this. Most do. */
const fewPatterns = 16;

/**
 * Creates the deliveries of an event in the transaction that creates the event. Each delivery
 * stores the bytes that are sent. Webhooks are found by the patterns of their filters, so their own
 * rows are not read. The transaction writes no row that other transactions also write: the host
 * application may keep its transaction open for a long time, and must not block other events for
 * the same webhook. `WebhookWaker` arms the jobs of the webhooks.
 */
export const fanOut: Projection = {
  of: events,
  reads: [{ index: webhookPatternByName, key: [], limit: fewPatterns }],
  async project(tx, rows) {
    let left = rows as readonly EventRow[];
    // Mostly, all events of a transaction belong to one scope.
    for (let [first] = left; first !== undefined; [first] = left) {
      const scoped = tx.in(first);
      await writeDeliveries(scoped, rowsInScope(scoped.scope, left));
      left = left.filter((row) => !isIn(scoped.scope, row));
    }
  },
};

/** Creates the deliveries of events of one scope. */
async function writeDeliveries(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  const byPattern = await findPatterns(tx, rows);
  if (byPattern.size === 0) return;
  for (const event of rows) {
    const matching = patternsOf(event.type).flatMap((pattern) => byPattern.get(pattern) ?? []);
    if (matching.length === 0) continue;
    const body = JSON.stringify(eventResource(event));
    for (const { webhook_id } of matching) {
      const { id: event_id, type: event_type } = event;
      writeDelivery(tx, { webhook_id, event_id, event_type, body });
    }
  }
}

/** Returns the patterns of an account's webhooks, at least those that match one of these events. */
async function findPatterns(
  tx: Tx,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<string, readonly WebhookPatternRow[]>> {
  const first = await tx.list(webhookPatternByName, [], fewPatterns);
  if (first.length < fewPatterns) return Map.groupBy(first, ({ pattern }) => pattern);
  const patterns = [...new Set(rows.flatMap(({ type }) => patternsOf(type)))];
  const found = await Promise.all(
    patterns.map((pattern) => tx.list(webhookPatternByName, [pattern], maxWebhooks)),
  );
  return new Map(patterns.map((pattern, i) => [pattern, found[i] ?? []]));
}

type NewDelivery = Pick<DeliveryRow, "webhook_id" | "event_id" | "event_type"> & {
  readonly body: string;
};

/** Creates a delivery that is due now. */
export function writeDelivery(tx: Tx, delivery: NewDelivery): Seen<DeliveryRow> {
  return tx.insert(deliveries, {
    ...delivery,
    id: tx.drawId("dlv"),
    // The storage assigns the position at commit.
    position: 0,
    status: "pending",
    attempts: 0,
    history: [],
    wait_ms: 0,
    next_attempt_at: tx.now,
    manual_at: null,
    manual_after: 0,
    created_at: tx.now,
  });
}
