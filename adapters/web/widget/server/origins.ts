/** Which websites may use the widget. The headers of CORS tell browsers. */
import { headerOf, type ApiRequest } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import { isSameOrigin } from "../../shared/server/same-origin.ts";

/** How long a browser may cache the response to a preflight. */
const maxAgeSeconds = 600;

export const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, POST",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
  "Access-Control-Max-Age": String(maxAgeSeconds),
} as const;

export const isPreflight = ({ method, headers }: ApiRequest): boolean =>
  method === "OPTIONS" && headerOf(headers, "access-control-request-method") !== undefined;

/**
 * Returns the headers that let a page of an allowed origin read the response. `credentials` tells
 * whether the page may send its cookies.
 */
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

/** The origin of a page that asks for a session. */
export interface PageOrigin {
  /** Whether it is the widget's own origin. */
  readonly isOwn: boolean;
  /** Whether the page was loaded over HTTPS. */
  readonly isSecure: boolean;
}

/**
 * Returns the origin of the page that sent a request. Refuses pages of origins that are not
 * allowed, and clients that are not browsers.
 * @throws TidingsError `foreign_origin`
 */
export function pageOrigin({ headers }: ApiRequest, origins: readonly string[]): PageOrigin {
  const origin = headerOf(headers, "origin");
  const isSecure = origin?.startsWith("https:") ?? false;
  if (origin !== undefined && origins.includes(origin)) return { isOwn: false, isSecure };
  if (isSameOrigin(headers)) return { isOwn: true, isSecure };
  throw new TidingsError(
    "foreign_origin",
    `Pages of ${origin === undefined ? "an unknown origin" : `the origin ${quoted(origin)}`} may ` +
      "not open sessions. Add the origin to the option origins of widgetHandler. If a proxy " +
      "stands before the server, it must pass on the headers Host, Origin and Sec-Fetch-Site.",
  );
}

const maxQuoted = 200;

const quoted = (origin: string): string => origin.slice(0, maxQuoted);
