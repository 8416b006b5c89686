import { expect, it } from "vitest";
import { invalid } from "../../src/kernel/errors.ts";

const wrong = (name: string) => ({ pointer: `/${name}`, code: "required", message: "Required." });

it.each([
  [["body"], "body: Required."],
  [["body", "to"], "body: Required. to: Required."],
  [["a", "b", "c"], "a: Required. b: Required. c: Required."],
  [["a", "b", "c", "d", "e"], "a: Required. b: Required. c: Required. (and 2 more)"],
])("the message of an error with the wrong fields %j quotes the first three", (names, message) => {
  const errors = names.map(wrong);
  expect(invalid(errors)).toMatchObject({ message, errors });
});
