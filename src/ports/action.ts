/** What agents can do in the host's world: its functions. */
import type { ContactId, ConversationId, Scope } from "../kernel/index.ts";

/** Any Standard Schema (standardschema.dev, version 1), such as a zod schema. Models are shown its JSON Schema, where it has one. */
export interface ActionSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Input> | Promise<SchemaResult<Input>>;
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export interface ActionContext {
  /** The same whenever this call is made again, after a crash or a lost answer. */
  readonly idempotency_key: string;
  readonly scope: Scope;
  /** Whom the conversation is with: bound by the engine, whatever the model says. */
  readonly contact: {
    readonly id: ContactId;
    readonly name: string | null;
    readonly phone: string | null;
  };
  readonly conversation: { readonly id: ConversationId };
  /** Aborts at `timeout_ms`, and when the engine stops in haste. */
  readonly signal: AbortSignal;
}

/**
 * A function of the host's that agents may call. What it resolves with is shown to the model and to playbooks: JSON of up to 16 KiB. What
 * it throws counts as `action_failure`; its message is kept in the run.
 */
export interface Action<Input = unknown> {
  /** A letter, then up to 63 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly input: ActionSchema<Input>;
  /** `read` changes nothing; `approval` is not called before somebody approves it. */
  readonly risk: "read" | "write" | "approval";
  /** Whether it may be called again with the same key when nobody knows how a call ended. One that is not is called at most once. */
  readonly idempotent: boolean;
  /** 1 to 120,000 milliseconds, by default 10,000. */
  readonly timeout_ms?: number;
  execute(input: Input, context: ActionContext): unknown;
}

/** An action as it is given, with the type of its input taken from its schema. */
export function action<Input>(given: Action<Input>): Action {
  return given;
}

/** Whether an option is an action. */
export function isAction(value: unknown): value is Action {
  if (typeof value !== "object" || value === null) return false;
  const {
    name,
    description,
    input,
    risk,
    idempotent,
    timeout_ms = 1,
    execute,
  } = value as { readonly [key: string]: unknown };
  const isSchema = typeof input === "object" && input !== null && "~standard" in input;
  const isTime =
    typeof timeout_ms === "number" &&
    Number.isInteger(timeout_ms) &&
    timeout_ms >= 1 &&
    timeout_ms <= 120_000;
  return (
    typeof name === "string" &&
    /^[A-Za-z][\w-]{0,63}$/.test(name) &&
    typeof description === "string" &&
    isSchema &&
    (risk === "read" || risk === "write" || risk === "approval") &&
    typeof idempotent === "boolean" &&
    isTime &&
    typeof execute === "function"
  );
}
