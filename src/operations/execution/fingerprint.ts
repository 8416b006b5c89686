import { createHmac, type KeyObject } from "node:crypto";
import { canonicalJson } from "../canonical-json.ts";

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
