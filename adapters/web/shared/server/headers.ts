/** The response headers of pages. */
import type { PageSettings } from "./options.ts";

/** Headers of every response under a page's mount point, besides those of the API. */
const commonHeaders = {
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
} as const;

/** The headers of every response but the document. It loads nothing, and nobody may frame it. */
export const dataHeaders: Readonly<Record<string, string>> = {
  ...commonHeaders,
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/**
 * The headers of the page's document. All code and styles come from the mount. No other script can
 * run, even if a text of a stranger became markup: inline code is forbidden, and no text can be
 * assigned to a place that runs code (Trusted Types).
 */
export function documentHeaders({
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
    // The page fetches pictures and sounds of strangers through the mount, and shows them as blobs.
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
    ...commonHeaders,
    "Content-Security-Policy": directives.join("; "),
    "Cross-Origin-Opener-Policy": "same-origin",
    ...(ancestors.length === 0 ? { "X-Frame-Options": "DENY" } : {}),
  };
}
