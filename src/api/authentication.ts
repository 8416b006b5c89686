import { TidingsError } from "../kernel/index.ts";

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

/** Returns the required scopes that the key lacks. */
export function missingScopes(
  needed: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return needed.filter((scope) => !granted.includes(scope));
}

/**
 * The `WWW-Authenticate` header of a 401 response (RFC 9110, section 11.6.1; RFC 6750, section 3).
 */
export function challengeOf({ status, code }: TidingsError): string | undefined {
  if (status !== 401) return undefined;
  return code.startsWith("missing_") ? "Bearer" : 'Bearer error="invalid_token"';
}
