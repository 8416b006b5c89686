import type { KeyObject } from "node:crypto";
import { notFound, TidingsError, type Scope } from "../../kernel/index.ts";
import type { VisitorCaller } from "../../operations/index.ts";
import type { UnscopedReads } from "../../store/index.ts";
import { webchatSessionById } from "../rows.ts";
import { verifyToken } from "./visitor-tokens.ts";

/** An authenticated visitor and its session. */
export interface Visitor {
  readonly scope: Scope;
  readonly caller: VisitorCaller;
}

/**
 * Authenticates a visitor by the session's token. A valid token of another session is refused.
 * @throws TidingsError `invalid_visitor_token`, `expired_visitor_token`; `not_found` when the
 *   session is gone
 */
export async function authenticateVisitor(
  {
    reads,
    secret,
    now,
  }: { readonly reads: UnscopedReads; readonly secret: KeyObject; readonly now: number },
  session_id: string,
  token: string,
): Promise<Visitor> {
  const proven = verifyToken(secret, token);
  if (proven?.session_id !== session_id) {
    throw new TidingsError("invalid_visitor_token", "The token is not valid for this session.");
  }
  if (proven.expires_at <= now) {
    throw new TidingsError("expired_visitor_token", "The session has expired.");
  }
  const { scope } = proven;
  const session = await reads.in(scope).get(webchatSessionById, [proven.session_id]);
  if (session === undefined) throw notFound("webchat session");
  return { scope, caller: { type: "visitor", session_id: session.id } };
}
