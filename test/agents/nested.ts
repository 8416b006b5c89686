import type { Json } from "../../src/ports/agent-model.ts";

/** Returns a value of so many levels of lists and objects. */
export function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}
