import { canonicalJson } from "../../operations/index.ts";
import type { Action, ActionContext, Json } from "../../ports/index.ts";
import { hasLevels, maxLevels } from "../fields.ts";

/** The maximum size of an action's result as JSON, in bytes. */
const maxBytes = 16_384;

/**
 * Calls the host application's function.
 * @throws what the function throws, and TypeError if its result is not JSON, too large or nested
 *   too deep
 */
export async function callAction(
  action: Action,
  input: unknown,
  context: ActionContext,
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

/** Whether two calls are the same: of the same action with the same input. */
export function isSameCall(
  a: { readonly action: string; readonly input: Json },
  b: { readonly action: string; readonly input: Json },
): boolean {
  return a.action === b.action && canonicalJson(a.input) === canonicalJson(b.input);
}
