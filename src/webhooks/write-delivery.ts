import { deliveries, type DeliveryRow } from "./rows.ts";
import type { DrawId } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

type Told = Pick<DeliveryRow, "webhook_id" | "event_id" | "event_type"> & {
  readonly body: string;
};

/** A new delivery, due at once. */
export function writeDelivery(tx: Tx, drawId: DrawId, told: Told): Seen<DeliveryRow> {
  return tx.insert(deliveries, {
    ...told,
    id: drawId("dlv"),
    // The storage numbers deliveries as they commit.
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
