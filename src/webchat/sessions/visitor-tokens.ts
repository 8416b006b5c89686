/**
 * Visitors authenticate with a token. It has five parts, joined by dots: the account's ULID, the
 * mode, the session's ULID, the expiry time in base 36, and an HMAC over all of them. It is
 * verified without a storage read, so forged tokens cost the storage nothing.
 */
import { createHmac, timingSafeEqual, type KeyObject } from "node:crypto";
import { ulidOf, ulidPattern, type Scope, type WebchatSessionId } from "../../kernel/index.ts";

const shape = /^([0-9A-Z]{26})\.(sandbox|live)\.([0-9A-Z]{26})\.([0-9a-z]{1,11})\.[\w-]{43}$/;

export interface ProvenToken {
  readonly scope: Scope;
  readonly session_id: WebchatSessionId;
  /** Milliseconds since the epoch. */
  readonly expires_at: number;
}

export function signToken(
  secret: KeyObject,
  { scope, session_id, expires_at }: ProvenToken,
): string {
  // The first element separates this signature from all others made with the same key.
  const signed = JSON.stringify([
    "webchat token",
    scope.account_id,
    scope.mode,
    session_id,
    expires_at,
  ]);
  return [
    ulidOf(scope.account_id),
    scope.mode,
    ulidOf(session_id),
    expires_at.toString(36),
    signatureOf(secret, signed),
  ].join(".");
}

/** Returns the contents of a genuine token, otherwise `undefined`. */
export function verifyToken(secret: KeyObject, token: string): ProvenToken | undefined {
  const [, account = "", mode, session = "", expiry = ""] = shape.exec(token) ?? [];
  if (!ulidPattern.test(account) || !ulidPattern.test(session)) return undefined;
  const proven: ProvenToken = {
    scope: { account_id: `acct_${account}`, mode: mode === "live" ? "live" : "sandbox" },
    session_id: `wcs_${session}`,
    expires_at: Number.parseInt(expiry, 36),
  };
  // Compare the whole text. Numbers and base64 have several spellings, and only one may be valid.
  return isSame(token, signToken(secret, proven)) ? proven : undefined;
}

const returnKeyShape = /^([\w-]{1,150})\.[\w-]{43}$/;

/** Returns the key with which a visitor comes back: the visitor's address and an HMAC. */
export function signReturnKey(secret: KeyObject, scope: Scope, address: string): string {
  const signed = JSON.stringify(["webchat return key", scope.account_id, scope.mode, address]);
  return `${Buffer.from(address).toString("base64url")}.${signatureOf(secret, signed)}`;
}

/** Returns the address in a genuine return key of this account and mode, otherwise `undefined`. */
export function verifyReturnKey(secret: KeyObject, scope: Scope, key: string): string | undefined {
  const encoded = returnKeyShape.exec(key)?.[1];
  if (encoded === undefined) return undefined;
  const address = Buffer.from(encoded, "base64url").toString();
  return isSame(key, signReturnKey(secret, scope, address)) ? address : undefined;
}

function signatureOf(secret: KeyObject, signed: string): string {
  return createHmac("sha256", secret).update(signed).digest("base64url");
}

/** Compares two texts in a time that does not tell where they differ. */
function isSame(text: string, other: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
