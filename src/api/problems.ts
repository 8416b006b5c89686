import { problem, ReplayedError, TidingsError } from "../kernel/index.ts";
import { challengeOf } from "./authentication.ts";
import { seconds } from "./headers.ts";
import type { ApiResponse, Exchange } from "./http.ts";

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
