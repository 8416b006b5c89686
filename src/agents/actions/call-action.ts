/** Checks the inputs of actions with the host application's schemas, and calls its functions. */
import { inBody, invalid, storable, TidingsError, withDeadline } from "../../kernel/index.ts";
import type { CheckCall } from "../../operations/index.ts";
import type {
  ActionPort,
  CallContext,
  Json,
  SchemaIssue,
  SchemaResult,
} from "../../ports/index.ts";
import { hasLevels, maxLevels } from "../fields.ts";

/** The time limit of an action that sets none, in milliseconds. */
export const defaultActionMs = 10_000;

export type Checked =
  { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly error: string };

/** Checks an input with the host application's schema. */
export async function checkInput(action: ActionPort, input: Json): Promise<Checked> {
  const result = await validate(action, input);
  if (result.issues === undefined) return { ok: true, input: result.value };
  const described = result.issues.slice(0, 5).map(describe).join("; ");
  return { ok: false, error: storable(`invalid input: ${described}`, 500) };
}

/** The maximum number of field errors in one response. */
const maxErrors = 100;

/**
 * Checks the input of a triggered action with the host application's schema. Returns the error for
 * the caller, with one field error for each problem, or undefined if the input is valid. The error
 * is the retryable `internal` if the schema fails or takes longer than the action may.
 * @throws the reason of `stopDeadline` if it aborts before the schema has answered
 */
export async function checkTriggerInput(
  action: ActionPort,
  input: Json,
  { clock, stopDeadline }: Pick<CheckCall, "clock" | "stopDeadline">,
): Promise<TidingsError | undefined> {
  const { name, timeout_ms = defaultActionMs } = action;
  const fail = (what: string, cause?: unknown): TidingsError =>
    new TidingsError("internal", `The input schema of the action "${name}" ${what}.`, { cause });
  let result: SchemaResult<unknown> | "late";
  try {
    result = await withDeadline<SchemaResult<unknown> | "late">(
      clock,
      timeout_ms,
      () => validate(action, input),
      () => "late",
      stopDeadline,
    );
  } catch (error) {
    stopDeadline.throwIfAborted();
    return fail("threw an error", error);
  }
  if (result === "late") return fail(`returned nothing within ${timeout_ms} ms`);
  if (result.issues === undefined) return undefined;
  return invalid(
    result.issues.slice(0, maxErrors).map((issue) => ({
      ...inBody(["input", ...pathOf(issue)]),
      code: "invalid",
      message: storable(issue.message, 500),
    })),
  );
}

/**
 * Validates a copy of an input: some schemas return the object itself, and schemas and actions may
 * change it. The recorded input must stay as it was, or a turn that is taken again would not find
 * its call and make it twice.
 */
async function validate(
  { input: schema }: ActionPort,
  input: Json,
): Promise<SchemaResult<unknown>> {
  return schema["~standard"].validate(structuredClone(input));
}

function describe(issue: SchemaIssue): string {
  const place = pathOf(issue).map(String).join(".");
  return place === "" ? issue.message : `${place}: ${issue.message}`;
}

const pathOf = ({ path = [] }: SchemaIssue): PropertyKey[] =>
  path.map((part) => (typeof part === "object" ? part.key : part));

/** The maximum size of an action's result as JSON, in bytes. */
const maxBytes = 16_384;

/**
 * Calls the host application's function.
 * @throws what the function throws, and TypeError if its result is not JSON, too large or nested
 *   too deep
 */
export async function callAction(
  action: ActionPort,
  input: unknown,
  context: CallContext,
): Promise<Json> {
  const result: unknown = await action.execute(input, context);
  const text = result === undefined ? "null" : jsonOf(result);
  if (text !== undefined && Buffer.byteLength(text) <= maxBytes) {
    const value = JSON.parse(text) as Json;
    if (hasLevels(value, maxLevels)) return value;
  }
  throw new TypeError(
    `an action must return JSON of at most ${maxBytes} bytes and ${maxLevels} levels of objects ` +
      "and lists",
  );
}

/** Returns a value as JSON. Undefined if it has no such form, or is nested far too deep. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The stack is full.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
