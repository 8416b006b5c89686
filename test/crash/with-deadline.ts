import { setTimeout as sleep } from "node:timers/promises";

/** How long anything may take on a slow machine. What takes longer hangs. */
export const deadlineMs = 300_000;

/** Resolves like `work`. Rejects with the name of `what` if it does not end before the deadline. */
export async function withDeadline<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} took longer than ${deadlineMs / 1_000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
