import { expect, it } from "vitest";
import * as z from "zod";
import { action, type Action } from "../../src/ports/action.ts";

const good: Action = {
  name: "look_up_order",
  description: "Looks up an order.",
  input: z.strictObject({}),
  risk: "read",
  idempotent: true,
  execute: () => null,
};

it.each<[string, Readonly<Record<string, unknown>>, string]>([
  [
    "name",
    { name: "look up" },
    'name: expected a letter and up to 63 letters, digits, "_" and "-", got "look up"',
  ],
  ["input", { input: {} }, "input: expected a schema, such as one of zod, got an object"],
  ["schema", { input: { "~standard": null } }, "input: expected a schema, such as one of zod"],
  ["validate", { input: { "~standard": { validate: 1 } } }, "input: expected a schema, such as"],
  ["risk", { risk: "rd" }, 'risk: expected "read", "write" or "approval", got "rd"'],
  ["idempotent", { idempotent: undefined }, "idempotent: expected true or false, got undefined"],
  [
    "timeout_ms",
    { timeout_ms: 0 },
    "timeout_ms: expected a whole number from 1 to 120,000, or nothing, got 0",
  ],
  ["execute", { execute: undefined }, "execute: expected a function, got undefined"],
])("the error for an action with a wrong %s names it", (_, wrong, message) => {
  expect(action(good)).toBe(good);
  expect(() => action({ ...good, ...wrong })).toThrow(`action: definition.${message}`);
});
