/** Whether the server answers. While it does not, the page asks again and again. */
import { signal } from "@preact/signals";

const firstProbeMs = 1000;
const maxProbeMs = 30_000;

/** When the page tries to reach the server again, in ms since 1970; null while it answers. */
export const offlineUntil = signal<number | null>(null);

let askServer: () => Promise<void> = async () => {};
let probes = 0;
let probing: ReturnType<typeof setTimeout> | undefined;

/** Sets the request with which the page asks whether the server is back. */
export function probeWith(ask: () => Promise<void>): void {
  askServer = ask;
}

/** Begins to ask whether the server is back, unless that is under way. */
export function noteUnreached(): void {
  if (probing !== undefined) return;
  const wait = Math.min(maxProbeMs, firstProbeMs * 2 ** probes);
  probes += 1;
  offlineUntil.value = Date.now() + wait;
  probing = setTimeout(probe, wait);
}

/** Asks at once whether the server is back. */
export function probe(): void {
  clearTimeout(probing);
  probing = undefined;
  void askServer().catch(() => {});
}

/**
 * Notes that the server answers, and stops asking. Before the page has asked once, an answer says
 * nothing: if that of one request breaks off each time, those of the others would end the outage at
 * once, and the page would read everything again and again without a pause.
 */
export function noteReached(): void {
  if (probes === 1 && probing !== undefined) return;
  clearTimeout(probing);
  probing = undefined;
  probes = 0;
  if (offlineUntil.value === null) return;
  offlineUntil.value = null;
  announceReconnect("server");
}

/** Why requests succeed again: the server answers again, or the person has signed in again. */
export type ReconnectReason = "server" | "session";

type ReconnectListener = (reason: ReconnectReason) => void;

const listeners = new Set<ReconnectListener>();

/** Calls `listener` each time requests succeed again. Returns a function that ends it. */
export function onReconnect(listener: ReconnectListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls all listeners. */
export function announceReconnect(reason: ReconnectReason): void {
  for (const listener of listeners) listener(reason);
}
