/**
 * A visitor's token: whose session it is and its ULID, when it expires in base 36, and an HMAC over all of it, with dots between. It is
 * verified without a look-up, so that what was made up costs the storage nothing.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { type Scope, ulidOf, ulidPattern, type WebchatSessionId } from "../kernel/index.ts";

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
  // Over a text of its own kind: nothing else that is signed with the key begins like it.
  const signed = JSON.stringify([
    "webchat token",
    scope.account_id,
    scope.mode,
    session_id,
    expires_at,
  ]);
  const signature = createHmac("sha256", secret).update(signed).digest("base64url");
  return [
    ulidOf(scope.account_id),
    scope.mode,
    ulidOf(session_id),
    expires_at.toString(36),
    signature,
  ].join(".");
}

/** What a token proves; `undefined` when it isn't one of ours. */
export function verifyToken(secret: KeyObject, token: string): ProvenToken | undefined {
  const [, account = "", mode, session = "", expiry = ""] = shape.exec(token) ?? [];
  if (!ulidPattern.test(account) || !ulidPattern.test(session)) return undefined;
  const proven: ProvenToken = {
    scope: { account_id: `acct_${account}`, mode: mode === "live" ? "live" : "sandbox" },
    session_id: `wcs_${session}`,
    expires_at: Number.parseInt(expiry, 36),
  };
  // As a whole, since numbers and base64 can be written in more ways than one, and two texts must not be one token.
  const [given, expected] = [Buffer.from(token), Buffer.from(signToken(secret, proven))];
  return given.length === expected.length && timingSafeEqual(given, expected) ? proven : undefined;
}
