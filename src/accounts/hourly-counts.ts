/** What is counted by the hour and by error. */
import { type Channel, hourMs, iso } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { deliveryTimes, errorCounts, hourlyUsage } from "./rows.ts";

/** The bounds of delivery times, in seconds. A delivery that took longer than all counts last. */
export const deliveryBounds: readonly number[] = [
  1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400,
];

/** What happened to a message. */
export type Happening =
  | { readonly what: "accepted" | "received" }
  | { readonly what: "delivered"; readonly afterMs: number }
  | { readonly what: "failed"; readonly sender: string; readonly code: string };

/** Counts what happened to a message of a channel in the current hour, and an error by its day. */
export function countHourly(tx: Tx, channel: Channel, happening: Happening): void {
  const hour = Math.floor(tx.now / hourMs) * hourMs;
  if (happening.what === "delivered") {
    const bound = boundOf(happening.afterMs);
    tx.add(deliveryTimes, { hour, channel, bound, messages: 1 });
    return;
  }
  const { what } = happening;
  tx.add(hourlyUsage, {
    hour,
    channel,
    accepted: what === "accepted" ? 1 : 0,
    received: what === "received" ? 1 : 0,
    failed: what === "failed" ? 1 : 0,
  });
  if (happening.what !== "failed") return;
  const { sender, code } = happening;
  tx.add(errorCounts, { day: iso(tx.now).slice(0, 10), sender, code, messages: 1 });
}

/** The place of the lowest bound that is not below a time. Beyond all bounds, their number. */
export function boundOf(ms: number): number {
  const found = deliveryBounds.findIndex((seconds) => ms <= seconds * 1_000);
  return found === -1 ? deliveryBounds.length : found;
}
