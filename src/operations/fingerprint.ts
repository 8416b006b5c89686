import { createHmac, type KeyObject } from "node:crypto";

/**
 * Tells one request from another under the same idempotency key: HMAC-SHA256, in hexadecimal, of the operation's name
 * and its input (path parameters and body) without `idempotency_key`. Keyed, so that a stored one gives nothing away of an
 * input that could be guessed. A `KeyObject` is set up once; bytes cost that at each call.
 */
export function fingerprint(
  secret: KeyObject | Uint8Array,
  operation: string,
  input: unknown,
): string {
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
 * RFC 8785: members sorted by their names' UTF-16 code units, no white space; numbers and strings are written as
 * `JSON.stringify` writes them. A member that is undefined counts as absent.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let written = "";
  // Without a comparison of its own a sort is by UTF-16 code units, as the RFC has it.
  for (const name of Object.keys(value).toSorted()) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== undefined) {
      written += `${written === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
    }
  }
  return `{${written}}`;
}
