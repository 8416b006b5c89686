/** The response headers of pages, and the checks of request headers. */
import { type ApiRequest, headerOf, type OperatorAccess } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import type { PageSettings } from "./options.ts";

/** Headers of every response under a page's mount point, besides those of the API. */
const everywhere = {
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

/** A response that is not the page itself has nothing to load, and no page may frame it. */
export const dataHeaders: Readonly<Record<string, string>> = {
  ...everywhere,
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/**
 * The headers of the page. All code and styles come from the mount. A script that the page did not
 * bring cannot run, even if a text of a stranger became markup: there is no inline code, and no
 * text can be assigned to a place that runs code (Trusted Types).
 */
export function pageHeaders({
  frameAncestors,
  avatarOrigins,
}: Pick<PageSettings, "frameAncestors" | "avatarOrigins">): Readonly<Record<string, string>> {
  const ancestors = frameAncestors.map((each) => (each === "self" ? "'self'" : each));
  const policy = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    // Pictures and sounds of strangers are fetched through the mount and shown from memory.
    "img-src": ["'self'", "blob:", "data:", ...avatarOrigins],
    "media-src": ["'self'", "blob:"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ancestors.length === 0 ? ["'none'"] : ancestors,
    "require-trusted-types-for": ["'script'"],
    "trusted-types": ["'none'"],
  };
  const directives = Object.entries(policy).map(([name, list]) => [name, ...list].join(" "));
  return {
    ...everywhere,
    "Content-Security-Policy": directives.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    ...(ancestors.length === 0 ? { "X-Frame-Options": "DENY" } : {}),
  };
}

/** Sent by the page with every request. Another origin can send it only after a preflight. */
const pageHeader = "tidings-page";

/**
 * Refuses requests that another website made the browser send. The header alone proves that. Writes
 * need a second proof, in case a proxy answers preflights.
 * @throws TidingsError `foreign_origin`
 */
export function refuseForeign({ method, headers }: ApiRequest): void {
  if (headerOf(headers, pageHeader) !== "1") {
    throw new TidingsError(
      "foreign_origin",
      "Only the page may send this request, and it sends the header `Tidings-Page: 1`. Programs " +
        "use the API with an API key.",
    );
  }
  if (method === "GET" || method === "HEAD") return;
  const site = headerOf(headers, "sec-fetch-site");
  if (site === undefined ? !isOwnOrigin(headers) : site !== "same-origin") {
    throw new TidingsError(
      "foreign_origin",
      "A page of another origin sent this request. If a proxy stands before the server, it must " +
        "pass on the headers `Host`, `Origin` and `Sec-Fetch-Site`.",
    );
  }
}

/**
 * Refuses a request of a page that shows another person or account than the application has signed
 * in. All tabs share the cookie, so a sign-in in another tab does this. `personOf` of the page
 * makes the header.
 * @throws TidingsError `not_signed_in`
 */
export function refuseOtherPerson({ headers }: ApiRequest, access: OperatorAccess): void {
  const { scope, operator } = access;
  const shown = headerOf(headers, "tidings-person");
  const person = encodeURIComponent(JSON.stringify([scope.account_id, scope.mode, operator.id]));
  if (shown === undefined || shown === person) return;
  throw new TidingsError(
    "not_signed_in",
    "Your application has signed in another person, or shows another account. Try again: the " +
      "page then loads for that person or account.",
  );
}

/** Whether the page that sent the request has the host and port that the request went to. */
function isOwnOrigin(headers: readonly string[]): boolean {
  const origin = URL.parse(headerOf(headers, "origin") ?? "");
  const host = headerOf(headers, "host");
  return origin !== null && host !== undefined && origin.host === host.toLowerCase();
}
