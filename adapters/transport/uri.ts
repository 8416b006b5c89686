/** What RFC 3986 has in a path or query in encoded form only, and a URL of the WHATWG's also as it is. */
const unencoded = /%(?![0-9a-f]{2})|[[\\\]^`{|}]/gi;

/**
 * A picture's URL as carriers take it: browsers, and so the engine, also take spaces and letters of any script. Its fragment is nothing that
 * is fetched.
 */
export function uriOf(url: string): string {
  const href = (URL.parse(url)?.href ?? url).replace(/#.*/, "");
  const path = href.indexOf("/", "https://".length);
  return href.slice(0, path) + href.slice(path).replaceAll(unencoded, encodeURIComponent);
}
