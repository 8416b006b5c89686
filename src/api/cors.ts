import { headerOf } from "./http.ts";

/** How long a browser need not ask again, in seconds. */
const maxAge = 600;

const methods = "GET, POST";
const allowed = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID";
const exposed = "Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed";

/**
 * What lets a page of another origin read an answer (WHATWG Fetch, section 3.2), where the host has named that origin. Tokens are sent on
 * purpose and no cookie is read, so credentials are never allowed.
 */
export function corsHeaders(
  headers: readonly string[],
  origins: readonly string[],
): Record<string, string> {
  if (origins.length === 0) return {};
  const origin = headerOf(headers, "origin");
  // What depends on the origin is not to be cached for another one, also where it is refused.
  if (origin === undefined || !origins.includes(origin)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposed,
  };
}

/** What a preflight asks beside that. */
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
