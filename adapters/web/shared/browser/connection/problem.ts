import type { FieldError, Problem } from "../../../../../src/index.ts";
import { text } from "../texts/shared-texts.ts";

/** A problem document. A proxy's answer has the status alone. */
export type ReceivedProblem = Partial<Problem> & { readonly status: number };

/** A response that is not 2xx. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  readonly problem: ReceivedProblem;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: ReceivedProblem, retryAfterMs: number | undefined) {
    super(messageOf(problem));
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code ?? "";
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.problem.retryable ?? (this.status >= 500 || this.status === 429);
  }

  /** Whether it names the fields that are wrong. */
  get isAboutFields(): boolean {
    return fieldsOf(this.problem).length > 0;
  }

  /** The problem of one field of the request's body, by its JSON pointer: `/body`. */
  field(pointer: string): string | undefined {
    return fieldsOf(this.problem).find((each) => each.pointer === pointer)?.message;
  }

  /** Whether all its problems are about these fields, given by their JSON pointers. */
  isOnlyAbout(pointers: ReadonlySet<string>): boolean {
    const fields = fieldsOf(this.problem);
    return fields.length > 0 && fields.every(({ pointer = "" }) => pointers.has(pointer));
  }
}

/** The server could not be reached, or did not answer in time. */
export class OfflineError extends Error {
  override readonly name = "OfflineError";
}

function messageOf(problem: ReceivedProblem): string {
  if (problem.status === 429 && problem.detail === undefined) return text("errorLimited");
  const fields = fieldsOf(problem);
  if (fields.length > 0) {
    return fields
      .map((each) => text("fieldProblem", { field: nameOf(each), message: each.message }))
      .join("\n");
  }
  return problem.detail ?? problem.title ?? text("errorUnknown");
}

const fieldsOf = ({ errors }: Partial<Problem>): readonly FieldError[] =>
  Array.isArray(errors) ? errors : [];

function nameOf({ pointer, parameter, header }: FieldError): string {
  return pointer?.replace(/^\//, "").replaceAll("/", ".") ?? parameter ?? header ?? "";
}

/** What to tell a person about any failure. */
export function explain(error: unknown): string {
  if (error instanceof ApiError || error instanceof OfflineError) return error.message;
  return text("errorUnknown");
}
