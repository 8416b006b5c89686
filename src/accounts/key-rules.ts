import type { KeyScope } from "./key-types.ts";

export interface KeyFacts {
  readonly secret_hash: string;
  readonly previous_hash: string | null;
  readonly previous_expires_at: number | null;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** Whether a secret, by its hash, opens a key now. A revoked key is as unknown as one that never was. */
export function judgeKey(
  key: KeyFacts,
  hash: string,
  now: number,
): "valid" | "expired" | "invalid" {
  if (key.revoked_at !== null) return "invalid";
  if (key.expires_at !== null && key.expires_at <= now) return "expired";
  if (key.secret_hash === hash) return "valid";
  if (key.previous_hash !== hash || key.previous_expires_at === null) return "invalid";
  return key.previous_expires_at > now ? "valid" : "expired";
}

/** The scopes that are asked for and the asker doesn't have: a key can't mint wider than itself. */
export function widerThan(asked: readonly KeyScope[], own: readonly string[]): KeyScope[] {
  return asked.filter((scope) => !own.includes(scope));
}

/** Whether a key that expires then would go on when the asker no longer may; null: never. */
export function outlives(expires_at: number | null, end: number | null): boolean {
  return end !== null && (expires_at === null || expires_at > end);
}
