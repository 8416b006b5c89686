import type { Action, ModelAction } from "../../ports/index.ts";

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
