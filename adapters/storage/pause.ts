import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `signal` is aborted or the time is over, without keeping the process alive. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
}
