/** The tabs of this browser. Each holds a lock for as long as it is open. */
import { newKey } from "./connection/idempotency-keys.ts";

/** Distinguishes this tab from the others. A reload makes another one. */
export const tabId = newKey();

const lockOf = (tab: string): string => `tidings:tab:${tab}`;

/** Whether this tab learns that another one was closed. Needs locks, which plain http lacks. */
export const seesTabsEnd = "locks" in navigator;

if (seesTabsEnd) void navigator.locks.request(lockOf(tabId), () => new Promise(() => {}));

/** Calls `then` when another tab is closed, or has been closed. */
export function onTabGone(tab: string, then: () => void): void {
  if (seesTabsEnd) void navigator.locks.request(lockOf(tab), then);
}
