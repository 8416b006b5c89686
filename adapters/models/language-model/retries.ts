import pRetry from "p-retry";
import { system } from "../../system/index.ts";

/**
 * The longest Retry-After that is applied, in milliseconds. With a longer one the call fails,
 * because a contact is waiting.
 */
const maxRetryAfterMs = 5_000;

const { clock } = system();

/**
 * Calls `attempt` up to three times, with pauses of 250 ms and 1 s, while it fails with an error
 * that the AI SDK marks as retryable: a request that did not reach the server, and the statuses
 * 408, 409, 429 and 5xx. It waits at least for the server's Retry-After, and rejects with the
 * signal's reason when the signal aborts.
 */
export function withRetries<T>(attempt: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return pRetry(attempt, {
    retries: 2,
    minTimeout: 250,
    factor: 4,
    signal,
    async shouldRetry({ error, retryDelay }) {
      const retryAfter = retryAfterMs(error);
      if (!isRetryable(error) || retryAfter > maxRetryAfterMs) return false;
      // The pause follows. Wait here for the part of Retry-After that exceeds it.
      if (retryAfter > retryDelay) await clock.sleep(retryAfter - retryDelay, signal);
      return true;
    },
  });
}

/**
 * Whether an error is a retryable `APICallError` of the AI SDK. `instanceof` would miss errors of a
 * second installed copy of the SDK.
 */
function isRetryable(error: Error): boolean {
  return "isRetryable" in error && error.isRetryable === true;
}

/** The server's Retry-After in milliseconds. 0 when there is none, or when it is a date. */
function retryAfterMs(error: Error): number {
  if (!("responseHeaders" in error)) return 0;
  const headers = error.responseHeaders;
  if (typeof headers !== "object" || headers === null || !("retry-after" in headers)) return 0;
  const seconds = Number(headers["retry-after"]);
  return seconds > 0 ? seconds * 1_000 : 0;
}
