import { quoted, suggestion, type FieldError } from "../../kernel/index.ts";
import type { Action } from "../../ports/index.ts";

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
