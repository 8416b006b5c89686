import { TidingsError, type Scope } from "../kernel/index.ts";
import {
  missingScopes,
  scopesOf,
  type Caller,
  type Guarded,
  type KeyScope,
  type OperatorProfile,
} from "../operations/index.ts";
import type { Admission, Clock } from "../ports/index.ts";
import type { ApiBackend } from "./backend.ts";
import { headerOf, seconds, type ApiRequest, type Exchange } from "./http.ts";
import { parseQuery, tokenField, type Params } from "./requests/url-parameters.ts";

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

/** A caller who was authenticated, before the scopes and the rate limit are checked. */
interface Known extends Admitted {
  /** Counts the request against the rate limit of the caller. */
  readonly count: () => Promise<Admission>;
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

/**
 * Authenticates the caller of a route, checks the scopes that the route needs, and counts the
 * request against the caller's rate limit. With `access`, the caller is an operator.
 */
export async function admit(
  backend: ApiBackend,
  { request, headers }: Exchange,
  { route, params }: { readonly route: Guarded; readonly params: Params },
  access: OperatorAccess | undefined,
): Promise<Admitted> {
  const known =
    "visitor" in route
      ? await visitorCaller(backend, request, params["id"] ?? "")
      : access === undefined
        ? await keyCaller(backend, request)
        : await operatorCaller(backend, access, route.scopes);
  if ("scopes" in route) refuseMissingScopes(known.caller, route.scopes, headers);
  refuseOverLimit(await known.count(), headers);
  return known;
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

async function keyCaller(
  { prepared, keyRing, keyLimiter }: ApiBackend,
  { headers }: ApiRequest,
): Promise<Known> {
  const secret = bearerKey(headerOf(headers, "authorization"));
  await prepared();
  const { scope, caller, requests_per_second } = await keyRing.authenticate(secret);
  return {
    scope,
    caller,
    mayContinue: () => keyRing.isValid(caller),
    count: () => keyLimiter.admit(caller.key_id, requests_per_second),
  };
}

/** Returns the caller of a request whose operator the host application has authenticated. */
async function operatorCaller(
  { prepared, checkAccount, keyLimiter, clock }: ApiBackend,
  access: OperatorAccess,
  scopes: readonly KeyScope[],
): Promise<Known> {
  const { scope, operator, may } = access;
  await prepared();
  await checkAccount(scope.account_id);
  const counted = JSON.stringify(["operator", scope.account_id, scope.mode, operator.id]);
  return {
    scope,
    caller: { type: "operator", operator, may },
    mayContinue: renewal(access, scopes, clock),
    count: () => keyLimiter.admit(counted, operatorRequestsPerSecond),
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

async function visitorCaller(
  { authenticateVisitor, visitorLimiter }: ApiBackend,
  { headers, query }: ApiRequest,
  session_id: string,
): Promise<Known> {
  const { [tokenField]: asked } = parseQuery(query);
  const token = visitorToken(headerOf(headers, "authorization"), asked);
  const visitor = await authenticateVisitor(session_id, token);
  return {
    ...visitor,
    count: () => visitorLimiter.admit(visitor.caller.session_id, visitorRequestsPerSecond),
  };
}

function refuseMissingScopes(
  caller: Caller,
  scopes: readonly KeyScope[],
  headers: Exchange["headers"],
): void {
  const missing = missingScopes(scopes, scopesOf(caller));
  if (missing.length === 0) return;
  const lacking = `the scope${missing.length > 1 ? "s" : ""} ${missing.join(" and ")}`;
  if (caller.type === "operator") {
    throw new TidingsError(
      "insufficient_scope",
      `You may not do this. Your application does not give you ${lacking}.`,
    );
  }
  headers["WWW-Authenticate"] = `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`;
  throw new TidingsError("insufficient_scope", `The API key lacks ${lacking}.`);
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
