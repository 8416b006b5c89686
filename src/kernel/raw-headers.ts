/**
 * Returns the headers by lower-case name. `raw` has alternating names and values, like Node's
 * `rawHeaders`. The values of a repeated header are joined by `, ` (RFC 9110, section 5.3).
 *
 * It reads the list once, because a request can have 2,000 headers, and anyone can send one.
 */
export function headersByName(raw: readonly string[]): Record<string, string> {
  const byName = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    const value = raw[i + 1] ?? "";
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(byName);
}
