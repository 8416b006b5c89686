/** Actions: functions of the host application that agents may call. */
import type { ContactId, ConversationId, Scope } from "../kernel/index.ts";

/**
 * Any Standard Schema (standardschema.dev, version 1), such as a zod schema. Models see its JSON
 * Schema, if it provides one.
 */
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
  /** The same for every attempt of this call, for example after a crash or a lost response. */
  readonly idempotency_key: string;
  readonly scope: Scope;
  /** The contact of the conversation. The engine sets it; the model cannot choose it. */
  readonly contact: {
    readonly id: ContactId;
    readonly name: string | null;
    readonly phone: string | null;
  };
  readonly conversation: { readonly id: ConversationId };
  /** Aborts after `timeout_ms`, when the turn's time is over, and at the deadline of `stop`. */
  readonly signal: AbortSignal;
}

/**
 * A function of the host application that agents may call. The model and playbooks see its result:
 * JSON of up to 16 KiB. An exception counts as `action_failure`, and the run stores its message.
 */
export interface Action<Input = unknown> {
  /** A letter, then up to 63 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly input: ActionSchema<Input>;
  /** `read` changes nothing. `approval` is called only after a person approves the call. */
  readonly risk: "read" | "write" | "approval";
  /**
   * Whether the engine may repeat a call with the same key if its outcome is unknown. If false, the
   * engine makes each call at most once.
   */
  readonly idempotent: boolean;
  /** 1 to 120,000 milliseconds. Default: 10,000. */
  readonly timeout_ms?: number;
  execute(input: Input, context: ActionContext): unknown;
}

/** Returns the given action. Infers the type of its input from its schema. */
export function action<Input>(given: Action<Input>): Action {
  return given;
}

/** Whether a value is a valid action. */
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
  const isTimeout =
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
    isTimeout &&
    typeof execute === "function"
  );
}
