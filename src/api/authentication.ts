import { TidingsError, type Scope } from "../kernel/index.ts";
import {
  missingScopes,
  type Caller,
  type Guarded,
  type KeyScope,
  type OperatorProfile,
} from "../operations/index.ts";
import type { Admission, Clock } from "../ports/index.ts";
import type { Visitor } from "../webchat/index.ts";
import type { ApiBackend } from "./backend.ts";
import { headerOf, seconds, type Exchange } from "./http.ts";
import { parseQuery, tokenField } from "./requests/url-parameters.ts";

/** The rate limit of a session. A browser only writes, marks messages and reconnects. */
const visitorRequestsPerSecond = 20;

/** The rate limit of an operator, over all open pages. A page that opens sends some 20 requests. */
const operatorRequestsPerSecond = 50;
/** How often the host application is asked again about an operator's access, in milliseconds. */
const askAgainMs = 30_000;

/** A caller who may call the route, and its account and mode. */
export interface Admitted {
  readonly scope: Scope;
  readonly caller: Caller;
  /**
   * Checks whether the caller still has access: while the body arrives, and while a stream is open.
   * Absent for visitors.
   */
  readonly mayContinue?: () => Promise<boolean>;
}

/** A person whom the host application lets use a page, and the person's rights. */
export interface OperatorAccess {
  readonly scope: Scope;
  readonly operator: OperatorProfile;
  /** What the person may do. */
  readonly may: readonly KeyScope[];
  /** Asks the host application again. Null if the person has no access any more. */
  readonly renew: () => Promise<OperatorAccess | null>;
}

/** Authenticates the caller of a route. `id` is the parameter of its path, if it has one. */
export async function admit(
  backend: ApiBackend,
  exchange: Exchange,
  route: Guarded,
  id: string,
  access: OperatorAccess | undefined,
): Promise<Admitted> {
  if ("visitor" in route) return admitVisitor(backend, exchange, id);
  return access === undefined
    ? admitKey(backend, exchange, route.scopes)
    : admitOperator(backend, exchange, route.scopes, access);
}

/**
 * Checks the caller again after a wait for the client, which may take as long as it likes.
 * @throws TidingsError `invalid_api_key`, `not_signed_in`
 */
export async function refuseIfEnded({
  caller,
  mayContinue,
}: Pick<Admitted, "caller" | "mayContinue">): Promise<void> {
  if (mayContinue === undefined || (await mayContinue())) return;
  throw caller.type === "key"
    ? new TidingsError("invalid_api_key", "The API key was revoked or expired meanwhile.")
    : new TidingsError("not_signed_in", "You may no longer do this. Open the page again.");
}

/** Authenticates the API key, checks its scopes and counts the request against its rate limit. */
async function admitKey(
  { prepared, keyRing, keyLimiter }: ApiBackend,
  { request, headers }: Exchange,
  scopes: readonly KeyScope[],
): Promise<Admitted> {
  const secret = bearerKey(headerOf(request.headers, "authorization"));
  await prepared();
  const key = await keyRing.authenticate(secret);
  const { scope, caller, requests_per_second } = key;
  const missing = missingScopes(scopes, caller.scopes);
  if (missing.length > 0) {
    headers["WWW-Authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
    throw new TidingsError("insufficient_scope", `The API key lacks ${scopesText(missing)}.`);
  }
  refuseOverLimit(await keyLimiter.admit(caller.key_id, requests_per_second), headers);
  return { scope, caller, mayContinue: () => keyRing.isValid(caller) };
}

/** Names the scopes that are missing, at least one. */
function scopesText(missing: readonly KeyScope[]): string {
  return `the scope${missing.length > 1 ? "s" : ""} ${missing.join(" and ")}`;
}

/**
 * Checks the scopes of an operator, whom the host application has authenticated, and counts the
 * request against the operator's rate limit.
 */
async function admitOperator(
  { prepared, checkAccount, keyLimiter, clock }: ApiBackend,
  { headers }: Exchange,
  scopes: readonly KeyScope[],
  access: OperatorAccess,
): Promise<Admitted> {
  const { scope, operator, may } = access;
  await prepared();
  await checkAccount(scope.account_id);
  const missing = missingScopes(scopes, may);
  if (missing.length > 0) {
    throw new TidingsError(
      "insufficient_scope",
      `You may not do this. Your application does not give you ${scopesText(missing)}.`,
    );
  }
  const counted = JSON.stringify(["operator", scope.account_id, scope.mode, operator.id]);
  refuseOverLimit(await keyLimiter.admit(counted, operatorRequestsPerSecond), headers);
  return {
    scope,
    caller: { type: "operator", operator, may },
    mayContinue: renewal(access, scopes, clock),
  };
}

/**
 * Returns whether a request or stream of an operator may continue. Asks the host application every
 * 30 seconds at most. Another person, account or mode, or fewer scopes than the route needs, ends
 * it too.
 */
function renewal(
  { scope, operator, renew }: OperatorAccess,
  scopes: readonly KeyScope[],
  clock: Pick<Clock, "monotonic">,
): () => Promise<boolean> {
  let askedAt = clock.monotonic();
  return async () => {
    const now = clock.monotonic();
    if (now - askedAt < askAgainMs) return true;
    askedAt = now;
    const renewed = await renew();
    return (
      renewed !== null &&
      renewed.operator.id === operator.id &&
      renewed.scope.account_id === scope.account_id &&
      renewed.scope.mode === scope.mode &&
      missingScopes(scopes, renewed.may).length === 0
    );
  };
}

/** Authenticates the token of the session and counts the request against its rate limit. */
async function admitVisitor(
  backend: ApiBackend,
  { request, headers }: Exchange,
  session_id: string,
): Promise<Visitor> {
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

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. The limit applies to any one second. */
function rateLimitHeaders({ limit, remaining, reset_ms }: Admission): Record<string, string> {
  return {
    "RateLimit-Policy": `"requests";q=${limit};w=1`,
    RateLimit: `"requests";r=${Math.max(0, remaining)};t=${seconds(reset_ms)}`,
  };
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
