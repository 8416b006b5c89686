/** Counts messages by hour, and errors by day. */
import { hourMs, utcDay, type Channel } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import { deliveryTimes, errorCounts, hourlyUsage } from "./rows.ts";

/** The bounds of delivery times, in seconds. Slower deliveries are counted after the last bound. */
export const deliveryBounds: readonly number[] = [
  1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400,
];

/** A change of a message that is counted. */
export type CountedChange =
  | { readonly what: "accepted" | "received" }
  | { readonly what: "delivered"; readonly afterMs: number }
  | { readonly what: "failed"; readonly sender: string; readonly code: string };

/** Adds a change to the counts of the current hour, and its error to the counts of the day. */
export function countChange(tx: Tx, channel: Channel, change: CountedChange): void {
  const hour = Math.floor(tx.now / hourMs) * hourMs;
  if (change.what === "delivered") {
    const bound = boundOf(change.afterMs);
    tx.add(deliveryTimes, { hour, channel, bound, messages: 1 });
    return;
  }
  const { what } = change;
  tx.add(hourlyUsage, {
    hour,
    channel,
    accepted: what === "accepted" ? 1 : 0,
    received: what === "received" ? 1 : 0,
    failed: what === "failed" ? 1 : 0,
  });
  if (change.what !== "failed") return;
  const { sender, code } = change;
  tx.add(errorCounts, { day: utcDay(tx.now), sender, code, messages: 1 });
}

/** Returns the index of the lowest bound that a time does not exceed, or the number of bounds. */
export function boundOf(ms: number): number {
  const found = deliveryBounds.findIndex((seconds) => ms <= seconds * 1_000);
  return found === -1 ? deliveryBounds.length : found;
}
