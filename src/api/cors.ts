/** Which pages of other origins may read a response. */
import { headerOf } from "./http.ts";

/** How long a browser may cache a preflight response, in seconds. */
const maxAge = 600;

const methods = "GET, POST";
const allowed = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID";
const exposed = "Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed";

/**
 * The CORS headers that let pages of configured origins read a response (WHATWG Fetch, section
 * 3.2). Credentials are never allowed, because no cookies are used.
 */
export function corsHeaders(
  headers: readonly string[],
  origins: readonly string[],
): Record<string, string> {
  if (origins.length === 0) return {};
  const origin = headerOf(headers, "origin");
  // The response depends on the origin, also when the origin is refused, so caches must separate
  // them.
  if (origin === undefined || !origins.includes(origin)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposed,
  };
}

/** The additional headers of a preflight response. */
export function preflightHeaders(
  headers: readonly string[],
  cors: Readonly<Record<string, string>>,
): Record<string, string> {
  const isPreflight = headerOf(headers, "access-control-request-method") !== undefined;
  if (!isPreflight || cors["Access-Control-Allow-Origin"] === undefined) return {};
  return {
    "Access-Control-Allow-Methods": methods,
    "Access-Control-Allow-Headers": allowed,
    "Access-Control-Max-Age": String(maxAge),
  };
}
