import { canonicalJson, type CheckCall, type Runtime } from "../operations/index.ts";
import type {
  Action,
  ActionContext,
  AgentModel,
  Json,
  ModelAction,
  SchemaIssue,
  SchemaResult,
} from "../ports/index.ts";
import {
  type FieldError,
  inBody,
  invalid,
  quoted,
  storable,
  suggestion,
  TidingsError,
  withDeadline,
} from "../kernel/index.ts";

/** The model of the agents, and the actions that they may call. */
export interface AgentOptions {
  /** For example `rules()` or `languageModel(…)` from "tidings/models", or your own function. */
  readonly model: AgentModel | AgentModel["respond"];
  /** Functions that agents may call. An agent lists the names of its actions. At most 200. */
  readonly actions?: readonly Action[] | undefined;
  /**
   * Removes private data from messages, names, slots and observations before the model sees them.
   * Default: no change.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

export interface AgentSettings {
  readonly model: AgentModel;
  readonly actions: ReadonlyMap<string, Action>;
  readonly redact: (text: string) => string;
}

/** What the agents' jobs need. */
export interface AgentRuntime extends Runtime {
  /** Undefined if the engine has no option `agents`. */
  readonly agents: AgentSettings | undefined;
}

/** The error of a field that names an action which the engine does not have. */
export function unknownAction(
  pointer: string,
  name: string,
  actions: ReadonlyMap<string, Action>,
): FieldError {
  const known = [...actions.keys()];
  const listed = known.slice(0, 10).map(quoted).join(", ") + (known.length > 10 ? ", …" : "");
  const others =
    known.length === 0 ? ". Its option `agents` has no actions." : `. It has ${listed}.`;
  const message = `the engine has no action ${quoted(name)}${suggestion(name, known) || others}`;
  return { pointer, code: "unknown_action", message };
}

/** The maximum size of an action's result as JSON, in bytes. */
const maxBytes = 16_384;

/**
 * Returns an action as the model sees it. If the input schema has no JSON Schema form, the model
 * sees one that accepts any object. The real schema still checks each input.
 */
export function toModelAction({ name, description, input }: Action): ModelAction {
  const { jsonSchema } = input["~standard"];
  try {
    return {
      name,
      description,
      input_schema: jsonSchema?.input({ target: "draft-2020-12" }) ?? { type: "object" },
    };
  } catch {
    return { name, description, input_schema: { type: "object" } };
  }
}

export type Checked =
  { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly error: string };

/**
 * Validates a copy of an input: some schemas return the object itself, and schemas and actions may
 * change it. The recorded input must stay as it was, or a turn that is taken again would not find
 * its call and make it twice.
 */
async function validate({ input: schema }: Action, input: Json): Promise<SchemaResult<unknown>> {
  return schema["~standard"].validate(structuredClone(input));
}

/** Checks an input with the host application's schema. */
export async function checkInput(action: Action, input: Json): Promise<Checked> {
  const result = await validate(action, input);
  if (result.issues === undefined) return { ok: true, input: result.value };
  const described = result.issues.slice(0, 5).map(describe).join("; ");
  return { ok: false, error: storable(`invalid input: ${described}`, 500) };
}

function describe(issue: SchemaIssue): string {
  const place = pathOf(issue).map(String).join(".");
  return place === "" ? issue.message : `${place}: ${issue.message}`;
}

const pathOf = ({ path = [] }: SchemaIssue): PropertyKey[] =>
  path.map((part) => (typeof part === "object" ? part.key : part));

/** The time limit of an action that sets none, in milliseconds. */
export const defaultActionMs = 10_000;
/** The maximum number of field errors in one response. */
const maxErrors = 100;

/**
 * Checks the input of a triggered action with the host application's schema. Returns the error for
 * the caller, with one field error for each problem, or undefined if the input is valid. The error
 * is the retryable `internal` if the schema fails or takes longer than the action may.
 * @throws the reason of `stopDeadline` if it aborts before the schema has answered
 */
export async function checkTriggerInput(
  action: Action,
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
 * Calls the host application's function. @throws what the function throws, and TypeError if its
 * result is not JSON or is too large
 */
export async function execute(
  action: Action,
  input: unknown,
  context: ActionContext,
): Promise<Json> {
  const answered: unknown = await action.execute(input, context);
  const text = answered === undefined ? "null" : JSON.stringify(answered);
  if (text === undefined || Buffer.byteLength(text) > maxBytes) {
    throw new TypeError(`an action must return JSON of at most ${maxBytes} bytes`);
  }
  return JSON.parse(text) as Json;
}

/** Whether two calls are the same: of the same action with the same input. */
export function isSameCall(
  a: { readonly action: string; readonly input: Json },
  b: { readonly action: string; readonly input: Json },
): boolean {
  return a.action === b.action && canonicalJson(a.input) === canonicalJson(b.input);
}
