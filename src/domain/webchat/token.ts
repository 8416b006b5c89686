/**
 * A visitor's token: the session's ULID, when it expires in base 36, and an HMAC over both, with dots between. It is verified without a
 * look-up, so that what was made up costs the storage nothing.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { ulidOf, ulidPattern, type WebchatSessionId } from "../../ids.ts";

const shape = /^([0-9A-Z]{26})\.([0-9a-z]{1,11})\.([\w-]{43})$/;

export interface ProvenToken {
  readonly session_id: WebchatSessionId;
  /** Milliseconds since the epoch. */
  readonly expires_at: number;
}

export function signToken(secret: KeyObject, session_id: WebchatSessionId, expires_at: number): string {
  return `${ulidOf(session_id)}.${expires_at.toString(36)}.${mac(secret, session_id, expires_at).toString("base64url")}`;
}

/** What a token proves; `undefined` when it isn't one of ours. */
export function verifyToken(secret: KeyObject, token: string): ProvenToken | undefined {
  const [, ulid = "", expiry = "", signature = ""] = shape.exec(token) ?? [];
  if (!ulidPattern.test(ulid)) return undefined;
  const session_id: WebchatSessionId = `wcs_${ulid}`;
  const expires_at = Number.parseInt(expiry, 36);
  const given = Buffer.from(signature, "base64url");
  const expected = mac(secret, session_id, expires_at);
  // `Buffer.from` takes what base64url leaves over: two texts must not be one token.
  if (given.length !== expected.length || given.toString("base64url") !== signature) return undefined;
  return timingSafeEqual(given, expected) ? { session_id, expires_at } : undefined;
}

/** Over a text of its own kind: nothing else that is signed with the key begins like it. */
function mac(secret: KeyObject, session_id: WebchatSessionId, expires_at: number): Buffer {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["webchat token", session_id, expires_at]))
    .digest();
}
