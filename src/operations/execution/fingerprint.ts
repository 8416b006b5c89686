import { createHmac, type KeyObject } from "node:crypto";

/**
 * Distinguishes requests under the same idempotency key: HMAC-SHA256, in hexadecimal, of the
 * operation's name and its input (path parameters and body) without `idempotency_key`. It is keyed
 * so that nobody can confirm a guessed input by a stored fingerprint.
 */
export function fingerprintOf(secret: KeyObject, operation: string, input: unknown): string {
  return createHmac("sha256", secret)
    .update(`${operation}\n${canonicalJson(withoutKey(input))}`)
    .digest("hex");
}

function withoutKey(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const { idempotency_key: _, ...others } = input as Readonly<Record<string, unknown>>;
  return others;
}

/**
 * Writes canonical JSON (RFC 8785): members sorted by the UTF-16 code units of their names, no
 * white space, numbers and strings as `JSON.stringify` writes them. Undefined members are omitted.
 * The items of a batch that a caller passes in process may be no JSON. They are refused one by one,
 * so they must not throw here: a bigint is written as text, and a circle ends with "circular".
 */
export function canonicalJson(value: unknown, within: readonly object[] = []): string {
  if (typeof value === "bigint") return JSON.stringify(`${value}n`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (within.includes(value)) return '"circular"';
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
