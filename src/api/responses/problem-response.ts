/** The responses to requests that failed. */
import { problem, ReplayedError, TidingsError } from "../../kernel/index.ts";
import { seconds, type ApiRequest, type ApiResponse, type Exchange } from "../http.ts";

/** Returns the error that the client sees. It shows no details of errors that are not expected. */
export function publicError(error: unknown): TidingsError {
  if (error instanceof TidingsError) return error;
  return new TidingsError(
    "internal",
    "The request failed because of an internal error. Try again later.",
  );
}

/** Builds the error response. It keeps the headers that earlier steps added. */
export function problemResponse(
  { request_id, headers }: Exchange,
  error: TidingsError,
): ApiResponse {
  const { status, retryAfterMs } = error;
  if (retryAfterMs !== undefined) headers["Retry-After"] = String(seconds(retryAfterMs));
  const challenge = challengeOf(error);
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  headers["Content-Type"] = "application/problem+json";
  if (error instanceof ReplayedError) {
    headers["Idempotent-Replayed"] = "true";
    return { status, headers, body: error.body };
  }
  return { status, headers, body: JSON.stringify(problem(error, request_id)) };
}

/**
 * The `WWW-Authenticate` header of a 401 response (RFC 9110, section 11.6.1; RFC 6750, section 3).
 */
export function challengeOf({ status, code }: TidingsError): string | undefined {
  if (status !== 401) return undefined;
  // Pages have no HTTP authentication scheme. The standard wants one with each 401 response.
  if (code === "missing_session" || code === "not_signed_in") return "Tidings-Page";
  return code.startsWith("missing_") ? "Bearer" : 'Bearer error="invalid_token"';
}

/** How much of a path an error quotes. */
const maxQuotedPath = 200;

/**
 * The error for a path without a route. It says when the base path of the handler is the reason.
 */
export function noSuchRoute({ method, url, path, basePath }: ApiRequest): TidingsError {
  const requested = url.split("?", 1).join("").slice(0, maxQuotedPath);
  const given = basePath === "" ? "no base path" : `the base path "${basePath}"`;
  const advice =
    basePath === undefined || /^\/v1(?:\/|$)/.test(path)
      ? "Check the method and the path against /v1/openapi.json."
      : `This handler has ${given}, so its endpoints begin with ${basePath}/v1. Check its option ` +
        "basePath.";
  return new TidingsError("not_found", `There is no endpoint ${method} ${requested}. ${advice}`);
}
