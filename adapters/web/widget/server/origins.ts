/** Which pages may use the widget. */
import { type ApiRequest, headerOf } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";

/** How long a browser may cache a preflight response, in seconds. */
const maxAge = 600;

export const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, POST",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
  "Access-Control-Max-Age": String(maxAge),
} as const;

export const isPreflight = ({ method, headers }: ApiRequest): boolean =>
  method === "OPTIONS" && headerOf(headers, "access-control-request-method") !== undefined;

/** Returns the headers that let a page of an allowed origin read the response. */
export function allowOrigin(
  { headers }: ApiRequest,
  origins: readonly string[],
  { credentials }: { readonly credentials: boolean },
): Record<string, string> {
  if (origins.length === 0) return {};
  const origin = headerOf(headers, "origin");
  // Caches must separate the responses, also those without the header.
  if (origin === undefined || !origins.includes(origin)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "Request-Id, Retry-After",
    ...(credentials ? { "Access-Control-Allow-Credentials": "true" } : {}),
  };
}

/** Where a page is that asks for a session. */
export interface PageOrigin {
  readonly isOwn: boolean;
  readonly isSecure: boolean;
}

/**
 * Refuses pages of other origins, and clients that are not browsers.
 * @throws TidingsError `foreign_origin`
 */
export function pageOrigin({ headers }: ApiRequest, origins: readonly string[]): PageOrigin {
  const origin = headerOf(headers, "origin");
  const isSecure = origin?.startsWith("https:") ?? false;
  if (origin !== undefined && origins.includes(origin)) return { isOwn: false, isSecure };
  const site = headerOf(headers, "sec-fetch-site");
  // A proxy may have changed the host, but not what the browser says about the page.
  const isOwn =
    site === undefined
      ? origin !== undefined && URL.parse(origin)?.host === headerOf(headers, "host")?.toLowerCase()
      : site === "same-origin";
  if (isOwn) return { isOwn, isSecure };
  throw new TidingsError(
    "foreign_origin",
    `Pages of ${origin === undefined ? "an unknown origin" : `the origin ${quoted(origin)}`} may ` +
      "not open sessions. Add the origin to the option origins of widgetHandler. If a proxy " +
      "stands before the server, it must pass on the headers Host, Origin and Sec-Fetch-Site.",
  );
}

const maxQuoted = 200;

const quoted = (origin: string): string => origin.slice(0, maxQuoted);
