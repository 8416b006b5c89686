import * as z from "zod";
import { describe, suggestion } from "./describe.ts";
import { wrongKind } from "./ids.ts";

/**
 * Every error that a caller can receive, by code. `status` is the HTTP status. `retryable` means
 * that the same call may succeed later. Nothing was stored, unless the connection to the storage
 * broke during the commit, so a caller repeats the call with the same idempotency key.
 */
const catalog = {
  malformed_json: { status: 400, title: "Malformed JSON", retryable: false },
  malformed_request: { status: 400, title: "Malformed request", retryable: false },
  invalid_cursor: { status: 400, title: "Invalid cursor", retryable: false },
  missing_api_key: { status: 401, title: "API key missing", retryable: false },
  invalid_api_key: { status: 401, title: "API key invalid", retryable: false },
  expired_api_key: { status: 401, title: "API key expired", retryable: false },
  missing_visitor_token: { status: 401, title: "Visitor token missing", retryable: false },
  invalid_visitor_token: { status: 401, title: "Visitor token invalid", retryable: false },
  expired_visitor_token: { status: 401, title: "Visitor token expired", retryable: false },
  missing_session: { status: 401, title: "Session missing", retryable: false },
  not_signed_in: { status: 401, title: "Not signed in", retryable: false },
  invalid_session_token: { status: 403, title: "Session token invalid", retryable: false },
  insufficient_scope: { status: 403, title: "Scope missing", retryable: false },
  local_only: { status: 403, title: "Local access only", retryable: false },
  foreign_origin: { status: 403, title: "Request from another origin", retryable: false },
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
  too_many_streams: { status: 429, title: "Too many open streams", retryable: true },
  internal: { status: 500, title: "Internal error", retryable: true },
  media_unavailable: { status: 502, title: "Media unavailable", retryable: true },
  not_configured: { status: 501, title: "Not configured", retryable: false },
  storage_unavailable: { status: 503, title: "Storage unavailable", retryable: true },
  storage_damaged: { status: 503, title: "Storage damaged", retryable: false },
  storage_contended: { status: 503, title: "Storage contended", retryable: true },
  overloaded: { status: 503, title: "Overloaded", retryable: true },
  shutting_down: { status: 503, title: "Shutting down", retryable: true },
  storage_newer: { status: 503, title: "Storage is newer than the code", retryable: false },
  storage_outdated: { status: 503, title: "Storage is older than the code", retryable: false },
  invalid_option: { status: 500, title: "Invalid option", retryable: false },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>;

/** The code of an error, for programs. Codes are stable. New codes may be added. */
export type ErrorCode = keyof typeof catalog;

export const errorCodes: readonly ErrorCode[] = Object.keys(catalog) as ErrorCode[];

/** One wrong field: one of `pointer`, `parameter` and `header`, and what is wrong there. */
export interface FieldError {
  /** JSON pointer (RFC 6901) to the field in the body. Empty for the whole body. */
  readonly pointer?: string | undefined;
  /** The name of the path or query parameter. */
  readonly parameter?: string | undefined;
  /** The name of the request header. */
  readonly header?: string | undefined;
  /** A code for programs, such as `required` or `unknown_field`. New codes may be added. */
  readonly code: string;
  /** An explanation for people. */
  readonly message: string;
}

export const fieldErrorSchema = z
  .strictObject({
    pointer: z.string().optional(),
    parameter: z.string().optional(),
    header: z.string().optional(),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: "FieldError" });

/** The place of a field in a request. */
export type FieldPlace =
  { readonly pointer: string } | { readonly parameter: string } | { readonly header: string };

/** What an error says besides its code and its message. */
export interface ErrorExtras {
  /** The fields that are wrong. */
  readonly errors?: readonly FieldError[] | undefined;
  /** How long to wait before trying again, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The id of the existing resource that causes a conflict. */
  readonly conflictingId?: string | undefined;
  /** Whether the same call may succeed later. By default, the code decides. */
  readonly retryable?: boolean | undefined;
  /** What HTTP responses say, when the message names a file or a server. Default: the message. */
  readonly detail?: string | undefined;
  /** The error that caused this one. HTTP responses do not contain it. */
  readonly cause?: unknown;
}

/**
 * The class of all errors of the engine. `code` says which error it is. `message` explains it for
 * people and contains no secrets. It may name a file or a server, and then `detail` is the text
 * for callers over HTTP.
 */
export class TidingsError extends Error {
  /** Always `TidingsError`, also in subclasses. */
  override readonly name = "TidingsError";
  /** The code of the error, for programs. */
  readonly code: ErrorCode;
  /** The HTTP status of the error, 400 to 599. */
  readonly status: number;
  /** A short name of the kind of error. It is the same for all errors with this code. */
  readonly title: string;
  /**
   * True if the same call may succeed later. Repeat it with the same idempotency key. Normally
   * nothing of this call was stored.
   */
  readonly retryable: boolean;
  /** The message without the names of files and servers. HTTP responses contain it. */
  readonly detail: string;
  /** The fields that are wrong. Empty if the error is about no field. */
  readonly errors: readonly FieldError[];
  /**
   * How long to wait before the next call, in milliseconds. Undefined if the engine does not know.
   */
  readonly retryAfterMs: number | undefined;
  /** The id of the existing resource that causes a `conflict`. Undefined if there is none. */
  readonly conflictingId: string | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    // Transports throw this error too, and may be in JavaScript.
    const given: unknown = code;
    if (typeof given !== "string" || !Object.hasOwn(catalog, given)) {
      const advice = typeof given === "string" ? suggestion(given, Object.keys(catalog)) : "";
      throw new TypeError(
        `TidingsError: code: expected a code of the engine, got ${describe(given)}${advice}`,
      );
    }
    this.code = code;
    ({ status: this.status, title: this.title, retryable: this.retryable } = catalog[code]);
    if (extras.retryable !== undefined) this.retryable = extras.retryable;
    this.detail = extras.detail ?? message;
    this.errors = extras.errors ?? [];
    this.retryAfterMs = extras.retryAfterMs;
    this.conflictingId = extras.conflictingId;
  }
}

/**
 * Resources of another account, of the other mode, and resources that never existed give the same
 * error, so that callers cannot probe for ids. `id` is the id that the caller gave. If its prefix
 * belongs to another kind of resource, the message says so.
 */
export function notFound(noun: string, id = ""): TidingsError {
  const reason = wrongKind(noun, id);
  const message = reason === undefined ? `No such ${noun}.` : `No such ${noun}: ${reason}.`;
  return new TidingsError("not_found", message);
}

export function bodyTooLarge(limit: number): TidingsError {
  return new TidingsError("body_too_large", `The body is larger than ${limit} bytes.`);
}

/** The body of a request cannot be read to its end. */
export function bodyEndedEarly(): TidingsError {
  const message = "The connection closed before the end of the body.";
  return new TidingsError("malformed_request", message);
}

/** A command came after `engine.stop()`. */
export function stopped(): TidingsError {
  const message = "The engine is stopped. Create a new engine.";
  return new TidingsError("shutting_down", message, { retryable: false });
}

/** How many field errors the message of an error quotes. `errors` has all of them. */
const maxQuoted = 3;

export function invalid(errors: readonly FieldError[]): TidingsError {
  const quoted = errors.slice(0, maxQuoted).map((each) => `${placeOf(each)}: ${each.message}`);
  const left = errors.length - quoted.length;
  // The sentences are parts of one list, so only the last one may end with a full stop.
  const all = quoted.join("; ").replaceAll(".; ", "; ");
  const message = all === "" ? "The input is not valid." : all;
  return new TidingsError(
    "validation_failed",
    left > 0 ? `${message} (and ${left} more)` : message,
    {
      errors,
    },
  );
}

function placeOf({ pointer, parameter, header }: FieldError): string {
  if (pointer !== undefined) return pointer === "" ? "input" : pointer.slice(1);
  return parameter ?? header ?? "";
}

/** An error that was already returned under the same idempotency key. */
export class ReplayedError extends TidingsError {
  /** The problem body, byte for byte as it was first returned. */
  readonly body: string;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras, body: string) {
    super(code, message, extras);
    this.body = body;
  }
}

/**
 * A policy failed. `cause` is what it threw. Logs leave the cause out, because its message may
 * quote the message that was evaluated. The engine logs the failure itself, without that text.
 */
export class PolicyFailure extends TidingsError {
  constructor(policy: string, cause: unknown) {
    super("internal", `The policy ${policy} failed. Nothing was sent.`, { cause });
  }
}
