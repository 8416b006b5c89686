/** Actions: functions of the host application that agents may call. */
import {
  hasMethods,
  memberOf,
  option,
  show,
  type ContactId,
  type ConversationId,
  type Scope,
} from "../kernel/index.ts";

/**
 * Any Standard Schema (standardschema.dev, version 1), such as a zod schema. Models see its JSON
 * Schema, if it provides one.
 */
export interface ActionSchema<Input> {
  /** The properties that Standard Schema defines. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: 1;
    /** The name of the schema library, such as `zod`. */
    readonly vendor: string;
    /** Checks an input. The engine passes the result's `value` to `execute`. */
    readonly validate: (value: unknown) => SchemaResult<Input> | Promise<SchemaResult<Input>>;
    /** The types of the input, for TypeScript only. The engine does not read it. */
    readonly types?:
      | {
          /** What the schema accepts. */
          readonly input: unknown;
          /** What the schema returns, and `execute` gets. */
          readonly output: Input;
        }
      | undefined;
    /** Converts the schema to JSON Schema. Without it, models see that any object is accepted. */
    readonly jsonSchema?: {
      /** Returns the JSON Schema of the accepted values. */
      readonly input: (options: {
        /** The version of JSON Schema. The engine asks for `draft-2020-12`. */
        readonly target: string;
      }) => Record<string, unknown>;
    };
  };
}

/** The result of a validation: the value, or the problems that were found. */
export type SchemaResult<Output> = SchemaSuccess<Output> | SchemaFailure;

/** The result of a validation that found no problems. */
export interface SchemaSuccess<Output> {
  /** The valid value, with the schema's defaults and conversions. */
  readonly value: Output;
  /** Absent, since there are no problems. */
  readonly issues?: undefined;
}

/** The result of a validation that found problems. */
export interface SchemaFailure {
  /** The problems. The model and the run are told the first five. */
  readonly issues: readonly SchemaIssue[];
}

/** One problem of an invalid input. */
export interface SchemaIssue {
  /** What is wrong. */
  readonly message: string;
  /** Where it is: the keys that lead to the value, outermost first. */
  readonly path?: readonly (PropertyKey | SchemaPathSegment)[] | undefined;
}

/** A key of a path, in the form of an object. */
export interface SchemaPathSegment {
  /** The name of a property, or an index of an array. */
  readonly key: PropertyKey;
}

/**
 * What the engine tells an action about a call. `Account` is the type of the account's handle,
 * which only higher modules know.
 */
export interface CallContext<Account = object> {
  /** The same for every attempt of this call, for example after a crash or a lost response. */
  readonly idempotency_key: string;
  /** The account and the mode of the conversation. */
  readonly scope: Scope;
  /**
   * The handle of the conversation's account in the conversation's mode. Use it to call the engine,
   * because an action is called for the conversations of all accounts. `engine.messages` sends from
   * the default account.
   */
  readonly account: Account;
  /** The contact of the conversation. The engine sets it; the model cannot choose it. */
  readonly contact: {
    /** The id of the contact. */
    readonly id: ContactId;
    /** The contact's name. Null if it is not known. */
    readonly name: string | null;
    /** The contact's phone number (E.164). Null if the contact has none. */
    readonly phone: string | null;
  };
  /** The conversation that the agent works on. */
  readonly conversation: {
    /** The id of the conversation. */
    readonly id: ConversationId;
  };
  /** Aborts after `timeout_ms`, when the turn's time is over, and at the deadline of `stop`. */
  readonly signal: AbortSignal;
}

/** A function of the host application that agents may call. */
export interface ActionPort<Input = unknown, Account = object> {
  /**
   * The name that agents and playbooks call it by: a letter, then up to 63 letters, digits, `_` and
   * `-`.
   */
  readonly name: string;
  /** What the action does and when to call it. Models read it. */
  readonly description: string;
  /**
   * Checks the input before each call, and also when the call is triggered over the API. It may be
   * asynchronous. A call with an invalid input counts as failed. A trigger with one is refused.
   * Models see its JSON Schema if it has one, and otherwise that any object is accepted.
   */
  readonly input: ActionSchema<Input>;
  /**
   * What a call can change. `read` changes nothing, and the engine may repeat the call. `write`
   * changes something, so the engine records the call before it makes it. `approval` is like
   * `write`, but the action is called only after a person approves the call.
   */
  readonly risk: "read" | "write" | "approval";
  /**
   * Whether the engine may repeat a call with the same key if its outcome is unknown. If false, the
   * engine makes each call at most once, unless `risk` is `read`.
   */
  readonly idempotent: boolean;
  /**
   * How long a call may take, in milliseconds: 1 to 120,000. The rest of the turn's time also
   * limits it.
   * @default 10000
   */
  readonly timeout_ms?: number | undefined;
  /**
   * Carries out the action. Returns its result as JSON, or a promise of it. Keep secrets out of the
   * result and of error messages: the run stores both, and the model sees them.
   */
  execute(input: Input, context: CallContext<Account>): unknown;
}

/** A rule for a property of an action. */
interface Rule {
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const rules: Readonly<Record<keyof ActionPort, Rule>> = {
  name: {
    expected: 'a letter and up to 63 letters, digits, "_" and "-"',
    holds: (name) => typeof name === "string" && /^[A-Za-z][\w-]{0,63}$/.test(name),
  },
  description: { expected: "a string", holds: (text) => typeof text === "string" },
  input: {
    expected: "a schema, such as one of zod",
    holds: (schema) => hasMethods(memberOf(schema, "~standard"), "validate"),
  },
  risk: {
    expected: '"read", "write" or "approval"',
    holds: (risk) => risk === "read" || risk === "write" || risk === "approval",
  },
  idempotent: { expected: "true or false", holds: (value) => typeof value === "boolean" },
  timeout_ms: {
    expected: "a whole number from 1 to 120,000, or nothing",
    holds: (ms) =>
      ms === undefined || (Number.isInteger(ms) && Number(ms) >= 1 && Number(ms) <= 120_000),
  },
  execute: { expected: "a function", holds: (value) => typeof value === "function" },
};

/** An action, as an option. */
export const actionOption = option<ActionPort>(
  "an action with a name, a description, an input schema, a risk, idempotent and execute",
  (given) => typeof given === "object" && given !== null,
).superRefine((given, context) => {
  for (const [name, { expected, holds }] of Object.entries(rules)) {
    const value = memberOf(given, name);
    if (holds(value)) continue;
    const params = { got: show(value) };
    context.addIssue({ code: "custom", path: [name], message: expected, params });
  }
});
