import { expect, it } from "vitest";
import { invalid, TidingsError, type ErrorCode } from "../../src/kernel/errors.ts";

const sentences: Readonly<Record<string, string>> = { phone: "must be a string, got 5" };
const wrong = (name: string) => ({
  pointer: `/${name}`,
  code: "invalid",
  message: sentences[name] ?? "Required.",
});

it.each([
  [["body"], "body: Required."],
  [["body", "to"], "body: Required; to: Required."],
  [["phone", "body"], "phone: must be a string, got 5; body: Required."],
  [["body", "phone"], "body: Required; phone: must be a string, got 5"],
  [["a", "b", "c"], "a: Required; b: Required; c: Required."],
  [["a", "b", "c", "d", "e"], "a: Required; b: Required; c: Required. (and 2 more)"],
])("the message of an error with the wrong fields %j quotes the first three", (names, message) => {
  const errors = names.map(wrong);
  expect(invalid(errors)).toMatchObject({ message, errors });
});

it("calls the whole input the input", () => {
  const error = invalid([{ pointer: "", code: "required", message: "Required." }]);
  expect(error).toMatchObject({ message: "input: Required." });
});

it.each([
  ["invalid_signatur", 'got a string. Did you mean "invalid_signature"?'],
  ["toString", "got a string"],
  [undefined, "got undefined"],
])("an error with the code %j names the wrong code", (code, got) => {
  expect(() => new TidingsError(code as ErrorCode, "No.")).toThrow(
    `TidingsError: code: expected a code of the engine, ${got}`,
  );
});
