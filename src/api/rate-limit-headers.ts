import type { Admission } from "../ports/index.ts";

/** Whole seconds, never fewer than the wait: who comes back after them is not too early. */
export const seconds = (ms: number): number => Math.max(0, Math.ceil(ms / 1000));

/** The two fields of draft-ietf-httpapi-ratelimit-headers-10, for the limit of any one second. */
export function rateLimitHeaders({
  limit,
  remaining,
  reset_ms,
}: Admission): Record<string, string> {
  return {
    "RateLimit-Policy": `"requests";q=${limit};w=1`,
    RateLimit: `"requests";r=${Math.max(0, remaining)};t=${seconds(reset_ms)}`,
  };
}
