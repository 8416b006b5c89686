/**
 * Writes canonical JSON (RFC 8785): members sorted by the UTF-16 code units of their names, no
 * white space, numbers and strings as `JSON.stringify` writes them. Undefined members are omitted.
 * An item of a batch may have values that are not JSON. Each such item is refused by itself, so it
 * must not throw here, and must not look like another item. So a bigint, a number that is not
 * finite (`JSON.parse` returns Infinity for `1e400`) and a circle are written as words without
 * quotation marks.
 */
export function canonicalJson(value: unknown, within: readonly object[] = []): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (within.includes(value)) return "circular";
  const inside = [...within, value];
  if (Array.isArray(value)) {
    return `[${value.map((each: unknown) => canonicalJson(each, inside)).join(",")}]`;
  }
  let written = "";
  // The default order of `toSorted` is by UTF-16 code units, as the RFC requires.
  for (const name of Object.keys(value).toSorted()) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    const comma = written === "" ? "" : ",";
    written += `${comma}${JSON.stringify(name)}:${canonicalJson(member, inside)}`;
  }
  return `{${written}}`;
}

/** Whether a patch would change a row. */
export function hasChanges(row: object, patch: object): boolean {
  return Object.entries(patch).some(
    ([column, value]) => canonicalJson(Reflect.get(row, column)) !== canonicalJson(value),
  );
}
