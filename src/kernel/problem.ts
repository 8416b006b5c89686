import * as z from "zod";
import {
  errorCodes,
  fieldErrorSchema,
  type ErrorCode,
  type FieldError,
  type TidingsError,
} from "./errors.ts";
import type { RequestId } from "./ids.ts";

/**
 * The body of every error response except that of `/v1/health`: `application/problem+json`
 * (RFC 9457).
 */
export interface Problem {
  /** A URI that identifies the kind of problem: `urn:tidings:error:` and the code. */
  readonly type: string;
  /** A short name of the kind of problem. It is the same for all errors with this code. */
  readonly title: string;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The code of the error, for programs. New codes may be added. */
  readonly code: ErrorCode;
  /** An explanation for people of what is wrong with this request. */
  readonly detail: string;
  /** The id of the request, as in the header `Request-Id` and in the engine's logs. */
  readonly request_id: string;
  /**
   * True if the same request may succeed later. Repeat it with the same idempotency key. Normally
   * nothing of this request was stored.
   */
  readonly retryable: boolean;
  /** The id of the existing resource that causes a conflict. */
  readonly conflicting_id?: string | undefined;
  /** The fields that are wrong. Empty if the problem is about no field. */
  readonly errors: FieldError[];
}

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(errorCodes),
    detail: z.string(),
    request_id: z.string(),
    retryable: z.boolean(),
    conflicting_id: z.string().optional(),
    errors: z.array(fieldErrorSchema),
  })
  .meta({ id: "Problem" });

/** RFC 9457 requires a URI that identifies the kind of problem. It need not resolve. */
const typeOf = (code: ErrorCode): string => `urn:tidings:error:${code}`;

/** Writes the properties in a fixed order, so that the same error gives the same bytes. */
export function problem(error: TidingsError, request_id: RequestId): Problem {
  const { code, status, title, detail, retryable, conflictingId, errors } = error;
  return {
    type: typeOf(code),
    title,
    status,
    code,
    detail,
    request_id,
    retryable,
    ...(conflictingId === undefined ? {} : { conflicting_id: conflictingId }),
    errors: [...errors],
  };
}
