/** Tells requests of the mount's own pages from those of other websites. */
import { headerOf, type ApiRequest } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";

/** A page sends this header with each request. Another origin can do so only after a preflight. */
const proofHeader = "tidings-page";

/**
 * Refuses requests that another website made the browser send. The header proves that the page sent
 * the request. Writes need a second proof, in case a proxy answers preflights.
 * @throws TidingsError `foreign_origin`
 */
export function refuseForeign({ method, headers }: ApiRequest): void {
  if (headerOf(headers, proofHeader) !== "1") {
    throw new TidingsError(
      "foreign_origin",
      "Only the page may send this request, and it sends the header `Tidings-Page: 1`. Programs " +
        "use the API with an API key.",
    );
  }
  if (method === "GET" || method === "HEAD" || isSameOrigin(headers)) return;
  throw new TidingsError(
    "foreign_origin",
    "A page of another origin sent this request. If a proxy stands before the server, it must " +
      "pass on the headers `Host`, `Origin` and `Sec-Fetch-Site`.",
  );
}

/** Whether a page of the server's own origin sent the request, as far as its headers tell. */
export function isSameOrigin(headers: readonly string[]): boolean {
  // A proxy may have changed the host, but not what the browser says about the page.
  const site = headerOf(headers, "sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = URL.parse(headerOf(headers, "origin") ?? "");
  const host = headerOf(headers, "host");
  return origin !== null && host !== undefined && origin.host === host.toLowerCase();
}
