/** How actions are shown: to callers, to models, and in the error of a wrong name. */
import * as z from "zod";
import { noInput, quoted, suggestion, type FieldError } from "../../kernel/index.ts";
import type { Query } from "../../operations/index.ts";
import type { ActionPort, ModelAction } from "../../ports/index.ts";
import { whole } from "../fields.ts";
import { defaultActionMs } from "./call-action.ts";

/** A function of the application that agents and playbooks can call. */
export interface AgentAction {
  /** The name that agents and playbooks call it by. */
  readonly name: string;
  /** What the action does and when to call it, in the application's words. */
  readonly description: string;
  /**
   * What a call can change. `read` changes nothing, `write` changes something, and `approval` also
   * needs a person's decision before the call.
   */
  readonly risk: "read" | "write" | "approval";
  /** Whether the engine may repeat a call whose outcome is unknown. */
  readonly idempotent: boolean;
  /** How long a call may take, in milliseconds. */
  readonly timeout_ms: number;
  /**
   * The JSON Schema (draft 2020-12) of the input. If the application's schema has no such form, any
   * object matches this one.
   */
  readonly input_schema: { readonly [key: string]: unknown };
}

/** All actions, by name. */
export interface AgentActions {
  /** The actions: at most 200. Empty if the engine has none. */
  readonly data: AgentAction[];
}

const agentActionSchema = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    risk: z.enum(["read", "write", "approval"]),
    idempotent: z.boolean(),
    timeout_ms: whole(1),
    input_schema: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AgentAction" });

export const agentActionsSchema = z
  .strictObject({
    data: z.array(agentActionSchema),
  })
  .meta({ id: "AgentActions" });

/** Lists the actions of the application. They are the same in every account. */
export const listActions: Query<Record<string, never>, AgentActions> = {
  kind: "query",
  name: "agents.actions",
  input: () => noInput,
  run(_, __, { services }) {
    const data = [...services.actions.values()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((action) => ({
        ...toModelAction(action),
        risk: action.risk,
        idempotent: action.idempotent,
        timeout_ms: action.timeout_ms ?? defaultActionMs,
      }));
    return Promise.resolve({ data });
  },
};

/**
 * Returns an action as the model sees it. If the input schema has no JSON Schema form, the model
 * sees one that accepts any object. The real schema still checks each input.
 */
export function toModelAction({ name, description, input }: ActionPort): ModelAction {
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

/** The error of a field that names an action which the engine does not have. */
export function unknownAction(
  pointer: string,
  name: string,
  actions: ReadonlyMap<string, ActionPort>,
): FieldError {
  const known = [...actions.keys()];
  const listed = known.slice(0, 10).map(quoted).join(", ") + (known.length > 10 ? ", …" : "");
  const others =
    known.length === 0 ? ". Its option `agents` has no actions." : `. It has ${listed}.`;
  const message = `the engine has no action ${quoted(name)}${suggestion(name, known) || others}`;
  return { pointer, code: "unknown_action", message };
}
