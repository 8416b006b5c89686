import { z } from "zod";
import { errorCodes } from "./errors.ts";
import type { ErrorCode, FieldError, TidingsError } from "./errors.ts";
import type { RequestId } from "./ids.ts";

/** The body of every response that is not 2xx: `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly request_id: string;
  readonly retryable: boolean;
  /** The id of the existing resource that causes a conflict. */
  readonly conflicting_id?: string;
  readonly errors: readonly FieldError[];
}

/** RFC 9457 requires a URI that identifies the kind of problem. It need not resolve. */
const typeOf = (code: ErrorCode): string => `urn:tidings:error:${code}`;

/** Writes the properties in a fixed order, so that the same error gives the same bytes. */
export function problem(error: TidingsError, request_id: RequestId): Problem {
  const { code, status, title, message, retryable, conflictingId, errors } = error;
  return {
    type: typeOf(code),
    title,
    status,
    code,
    detail: message,
    request_id,
    retryable,
    ...(conflictingId === undefined ? {} : { conflicting_id: conflictingId }),
    errors,
  };
}

export const fieldErrorSchema = z
  .strictObject({
    pointer: z.string().optional().describe("JSON pointer (RFC 6901) into the body."),
    parameter: z.string().optional(),
    header: z.string().optional(),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: "FieldError" });

export const problemSchema = z
  .object({
    type: z
      .string()
      .describe("A URI that identifies the kind of problem: `urn:tidings:error:` and the code"),
    title: z.string(),
    status: z.int().min(400).max(599),
    code: z.enum(errorCodes).describe("A code for programs. New codes may be added"),
    detail: z.string().describe("An explanation for people of what is wrong with this request"),
    request_id: z.string(),
    retryable: z.boolean().describe("The same request may succeed later. Nothing was stored"),
    conflicting_id: z
      .string()
      .optional()
      .describe("The id of the existing resource that causes a conflict"),
    errors: z.array(fieldErrorSchema).describe("Every invalid field of the input"),
  })
  .meta({ id: "Problem", description: "The body of every response that is not 2xx (RFC 9457)" });
