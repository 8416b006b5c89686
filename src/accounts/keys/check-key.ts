import type { KeyRow } from "./rows.ts";

/**
 * Checks a key and the hash of the secret that was presented. A revoked key is reported like an
 * unknown one. `replaced`: the secret is the previous one, and its grace period is over.
 */
export function checkKey(
  key: KeyRow,
  hash: string,
  now: number,
): "valid" | "expired" | "replaced" | "invalid" {
  if (key.revoked_at !== null) return "invalid";
  if (hasExpired(key, now)) return "expired";
  if (key.secret_hash === hash) return "valid";
  if (key.previous_hash !== hash || key.previous_expires_at === null) return "invalid";
  return key.previous_expires_at > now ? "valid" : "replaced";
}

/** Whether a key's `expires_at` has passed. No rotation brings the key back. */
export function hasExpired({ expires_at }: Pick<KeyRow, "expires_at">, now: number): boolean {
  return expires_at !== null && expires_at <= now;
}

/**
 * When a secret of a key stops working, in milliseconds. Null means never. The secret before the
 * last rotation ends with its grace period, if the key does not expire earlier.
 */
export function secretExpiry(
  { secret_hash, expires_at, previous_expires_at }: KeyRow,
  hash: string,
): number | null {
  if (secret_hash === hash || previous_expires_at === null) return expires_at;
  return expires_at === null ? previous_expires_at : Math.min(expires_at, previous_expires_at);
}

/** What an expired key's owner can do. */
export const keyExpired = "The API key has expired. Create a new one.";
