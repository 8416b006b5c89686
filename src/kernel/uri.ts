const plain = "[\\w\\-.~!$&'()*+,;=]|%[\\dA-Fa-f]{2}";
// An http URI has a host (RFC 9110). `https:///a.example` has none, but browsers take the host from
// behind the slashes.
const host = `(?:${plain})+|\\[[\\dA-Fa-f:.]+\\]`;
/** An http or https URI (RFC 3986). */
const webUri = new RegExp(
  `^https?://(?:(?:${plain}|:)*@)?(?:${host})(?::\\d*)?` +
    `(?:/(?:${plain}|[:@/])*)?(?:\\?(?:${plain}|[:@/?])*)?(?:#(?:${plain}|[:@/?])*)?$`,
  "i",
);

/** What `URL` leaves before the path, or in it and behind, although a URI must have it encoded. */
const unencoded = {
  before: /%(?![0-9a-f]{2})|["`{}]/gi,
  behind: /%(?![0-9a-f]{2})|[[\\\]^`{|}]/gi,
} as const;

/**
 * Returns an http or https URL as a URI (RFC 3986). It may have what browsers accept, such as
 * spaces and letters of any script: these are percent-encoded. A URI is returned as it is, and so
 * is a text that is no http or https URL.
 */
export function toUri(url: string): string {
  const href = webUri.test(url) ? undefined : URL.parse(url)?.href;
  if (href === undefined || !/^https?:/.test(href)) return url;
  const path = href.indexOf("/", "https://".length);
  const [resource = "", ...fragment] = href.slice(path).split("#");
  const rest = fragment.length === 0 ? resource : `${resource}#${fragment.join("%23")}`;
  return (
    href.slice(0, path).replaceAll(unencoded.before, encodeURIComponent) +
    rest.replaceAll(unencoded.behind, encodeURIComponent)
  );
}
