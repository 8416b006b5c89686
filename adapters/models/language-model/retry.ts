/** In milliseconds, before the second and the third attempt. */
const waits = [250, 1_000];
/** A server that wants to be left alone for longer than this isn't worth a contact's waiting. In milliseconds. */
const longestWait = 5_000;

/** Rejects when the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * Tries again what the AI SDK calls retryable: what never reached the server, 408, 409, 429 and 5xx. Twice at most, as long as the signal
 * hasn't aborted, and not before the server's Retry-After.
 */
export async function withRetries<T>(
  attempt: () => PromiseLike<T>,
  signal: AbortSignal,
  sleep: Sleep,
): Promise<T> {
  for (const wait of waits) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const asked = retryAfter(error);
      if (signal.aborted || !isRetryable(error) || asked > longestWait) throw error;
      await sleep(Math.max(wait, asked), signal);
    }
  }
  signal.throwIfAborted();
  return attempt();
}

/** `APICallError` of the SDK. Two copies of a package have two classes, so what it has tells. */
function isRetryable(error: unknown): boolean {
  return error instanceof Error && "isRetryable" in error && error.isRetryable === true;
}

/** In milliseconds; 0 where the server named none. */
function retryAfter(error: unknown): number {
  if (!(error instanceof Error) || !("responseHeaders" in error)) return 0;
  const headers = error.responseHeaders;
  if (typeof headers !== "object" || headers === null || !("retry-after" in headers)) return 0;
  const seconds = Number(headers["retry-after"]);
  return seconds > 0 ? seconds * 1_000 : 0;
}
