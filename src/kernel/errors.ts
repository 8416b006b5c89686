/**
 * Every error that a caller can receive, by code. `status` is the HTTP status. `retryable` means
 * that the same call may succeed later and that nothing was stored.
 */
const catalogue = {
  malformed_json: { status: 400, title: "Malformed JSON", retryable: false },
  malformed_request: { status: 400, title: "Malformed request", retryable: false },
  invalid_cursor: { status: 400, title: "Invalid cursor", retryable: false },
  missing_api_key: { status: 401, title: "API key missing", retryable: false },
  invalid_api_key: { status: 401, title: "API key invalid", retryable: false },
  expired_api_key: { status: 401, title: "API key expired", retryable: false },
  missing_visitor_token: { status: 401, title: "Visitor token missing", retryable: false },
  invalid_visitor_token: { status: 401, title: "Visitor token invalid", retryable: false },
  expired_visitor_token: { status: 401, title: "Visitor token expired", retryable: false },
  insufficient_scope: { status: 403, title: "Scope missing", retryable: false },
  invalid_signature: { status: 403, title: "Signature invalid", retryable: false },
  not_found: { status: 404, title: "Not found", retryable: false },
  method_not_allowed: { status: 405, title: "Method not allowed", retryable: false },
  conflict: { status: 409, title: "Conflict", retryable: false },
  idempotency_in_progress: {
    status: 409,
    title: "A request with this idempotency key is running",
    retryable: true,
  },
  not_cancelable: { status: 409, title: "Not cancelable", retryable: false },
  not_editable: { status: 409, title: "Not editable", retryable: false },
  erased: { status: 410, title: "Erased", retryable: false },
  body_too_large: { status: 413, title: "Body too large", retryable: false },
  unsupported_media_type: { status: 415, title: "Unsupported media type", retryable: false },
  validation_failed: { status: 422, title: "Validation failed", retryable: false },
  recipient_opted_out: { status: 422, title: "Recipient opted out", retryable: false },
  policy_denied: { status: 422, title: "Denied by policy", retryable: false },
  no_sender: { status: 422, title: "No sender", retryable: false },
  idempotency_key_reused: { status: 422, title: "Idempotency key reused", retryable: false },
  rate_limited: { status: 429, title: "Rate limit exceeded", retryable: true },
  internal: { status: 500, title: "Internal error", retryable: true },
  not_configured: { status: 501, title: "Not configured", retryable: false },
  storage_unavailable: { status: 503, title: "Storage unavailable", retryable: true },
  storage_contended: { status: 503, title: "Storage contended", retryable: true },
  overloaded: { status: 503, title: "Overloaded", retryable: true },
  shutting_down: { status: 503, title: "Shutting down", retryable: true },
  storage_newer: { status: 503, title: "Storage is newer than the code", retryable: false },
  storage_outdated: { status: 503, title: "Storage is older than the code", retryable: false },
  invalid_option: { status: 500, title: "Invalid option", retryable: false },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>;

export type ErrorCode = keyof typeof catalogue;

export const errorCodes: readonly ErrorCode[] = Object.keys(catalogue) as ErrorCode[];

/** One invalid input field: its place, a code for programs and a message for people. */
export type FieldError = FieldPlace & { readonly code: string; readonly message: string };

/**
 * The place of a field. `pointer` is a JSON pointer (RFC 6901) into the body, `parameter` names a
 * path or query parameter, `header` names a header.
 */
export type FieldPlace =
  { readonly pointer: string } | { readonly parameter: string } | { readonly header: string };

interface ErrorFacts {
  readonly errors?: readonly FieldError[];
  /** How long to wait before trying again, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The id of the existing resource that causes a conflict. */
  readonly conflictingId?: string;
  readonly cause?: unknown;
}

/** The error class of the engine. `message` has no secrets and may be shown to the caller. */
export class TidingsError extends Error {
  override readonly name = "TidingsError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly retryable: boolean;
  readonly errors: readonly FieldError[];
  readonly retryAfterMs: number | undefined;
  readonly conflictingId: string | undefined;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    ({ status: this.status, title: this.title, retryable: this.retryable } = catalogue[code]);
    this.errors = facts.errors ?? [];
    this.retryAfterMs = facts.retryAfterMs;
    this.conflictingId = facts.conflictingId;
  }
}

/**
 * Resources of another account, of the other mode, and resources that never existed give the same
 * error, so that callers cannot probe for ids.
 */
export function notFound(noun: string): TidingsError {
  return new TidingsError("not_found", `No such ${noun}.`);
}

export function invalid(errors: readonly FieldError[]): TidingsError {
  const [first, ...rest] = errors;
  const detail =
    first === undefined ? "The input is not valid." : `${placeOf(first)}: ${first.message}`;
  return new TidingsError(
    "validation_failed",
    rest.length > 0 ? `${detail} (and ${rest.length} more)` : detail,
    {
      errors,
    },
  );
}

function placeOf(place: FieldPlace): string {
  if ("pointer" in place) return place.pointer === "" ? "body" : place.pointer.slice(1);
  return "parameter" in place ? place.parameter : place.header;
}

/** An error that was already returned under the same idempotency key. */
export class ReplayedError extends TidingsError {
  /** The problem body, byte for byte as it was first returned. */
  readonly body: string;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts, body: string) {
    super(code, message, facts);
    this.body = body;
  }
}
