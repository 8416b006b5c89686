import { canonicalJson } from "../../operations/index.ts";
import type { Action, ActionContext, Json } from "../../ports/index.ts";

/** The maximum size of an action's result as JSON, in bytes. */
const maxBytes = 16_384;

/**
 * Calls the host application's function.
 * @throws what the function throws, and TypeError if its result is not JSON or is too large
 */
export async function callAction(
  action: Action,
  input: unknown,
  context: ActionContext,
): Promise<Json> {
  const result: unknown = await action.execute(input, context);
  const text = result === undefined ? "null" : JSON.stringify(result);
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
