import type { Authenticated } from "../accounts/index.ts";
import { TidingsError } from "../kernel/index.ts";
import { type KeyScope, missingScopes } from "../operations/index.ts";
import type { Admission } from "../ports/index.ts";
import type { Visitor } from "../webchat/index.ts";
import type { ApiBackend } from "./backend.ts";
import { corsHeaders, type Exchange, headerOf, rateLimitHeaders } from "./http.ts";
import { parseQuery, tokenField } from "./inputs.ts";

/** The rate limit of a session. A browser only writes, marks messages and reconnects. */
const visitorRequestsPerSecond = 20;

/** Authenticates the API key, checks its scopes and counts the request against its rate limit. */
export async function admitKey(
  { prepared, keyRing, keyLimiter }: ApiBackend,
  { request, headers }: Exchange,
  scopes: readonly KeyScope[],
): Promise<Authenticated> {
  const secret = bearerKey(headerOf(request.headers, "authorization"));
  await prepared();
  const key = await keyRing.authenticate(secret);
  const { caller, requests_per_second } = key;
  const missing = missingScopes(scopes, caller.scopes);
  if (missing.length > 0) {
    headers["WWW-Authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
    throw new TidingsError(
      "insufficient_scope",
      `The API key lacks the scope ${missing.join(" and ")}.`,
    );
  }
  refuseOverLimit(await keyLimiter.admit(caller.key_id, requests_per_second), headers);
  return key;
}

/** Authenticates the token of the session and counts the request against its rate limit. */
export async function admitVisitor(
  backend: ApiBackend,
  { request, headers }: Exchange,
  session_id: string,
): Promise<Visitor> {
  Object.assign(headers, corsHeaders(request.headers, backend.origins));
  const { [tokenField]: asked } = parseQuery(request.query);
  const token = visitorToken(headerOf(request.headers, "authorization"), asked);
  const visitor = await backend.authenticateVisitor(session_id, token);
  const { caller } = visitor;
  const admission = await backend.visitorLimiter.admit(caller.session_id, visitorRequestsPerSecond);
  refuseOverLimit(admission, headers);
  return visitor;
}

function refuseOverLimit(admission: Admission, headers: Exchange["headers"]): void {
  Object.assign(headers, rateLimitHeaders(admission));
  if (admission.admitted) return;
  throw new TidingsError("rate_limited", `More than ${admission.limit} requests in one second.`, {
    retryAfterMs: admission.retry_after_ms,
  });
}

const bearer = /^Bearer +([\w.~+/-]{1,256}=*)$/i;

/** The key in an `Authorization: Bearer` header (RFC 6750, section 2.1). */
export function bearerKey(authorization: string | undefined): string {
  if (authorization === undefined || !/^Bearer(?: |$)/i.test(authorization)) {
    throw new TidingsError("missing_api_key", "Send an API key: `Authorization: Bearer <key>`.");
  }
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) throw new TidingsError("invalid_api_key", "The API key is not valid.");
  return key;
}

/**
 * Reads a visitor's token from the header, or from the query because a browser's `EventSource`
 * cannot send headers.
 */
export function visitorToken(authorization: string | undefined, query: unknown): string {
  const token = authorization === undefined ? query : bearer.exec(authorization)?.[1];
  if (typeof token === "string" && token !== "") return token;
  if (authorization === undefined && query === undefined) {
    throw new TidingsError(
      "missing_visitor_token",
      "Send the session's token: `Authorization: Bearer <token>`, or `?token=`.",
    );
  }
  throw new TidingsError("invalid_visitor_token", "The token is not this session's.");
}
