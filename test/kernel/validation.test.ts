import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parse } from "../../src/kernel/validation.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { thrownBy } from "../support/thrown-by.ts";

const step = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("send"), text: z.string() }),
  z.strictObject({ type: z.literal("ask") }),
]);

describe("the error of a field", () => {
  test.each<[schema: z.ZodType, given: unknown, message: string]>([
    [z.string(), undefined, "Required."],
    [z.enum(["sandbox", "live"]), undefined, "Required."],
    [z.union([z.string(), z.int()]), undefined, "Required."],
    [z.string(), 17, "must be a string, got 17"],
    [z.int(), 1.5, "must be a whole number, got 1.5"],
    [z.boolean(), "yes", "must be true or false, got a string"],
    [z.array(z.string()), {}, "must be a list, got an object"],
    [z.strictObject({}), [], "must be an object, got a list of 0"],
    [z.record(z.string(), z.string()), null, "must be an object, got null"],
    [z.array(z.string()).min(1), [], "must have at least 1 item"],
    [z.array(z.string()).max(2), ["a", "b", "c"], "must have at most 2 items"],
    [z.string().min(2), "a", "must have at least 2 characters"],
    [z.string().max(1), "ab", "must have at most 1 character"],
    [z.string().length(6), "abc", "must have exactly 6 characters"],
    [z.string().length(6), "abcdefg", "must have exactly 6 characters"],
    [z.array(z.string()).length(1), [], "must have exactly 1 item"],
    [z.int().min(1), 0, "must be 1 or more"],
    [z.int().max(100), 101, "must be 100 or less"],
    [z.number().gt(0), 0, "must be more than 0"],
    [z.number().lt(1), 1, "must be less than 1"],
    [z.literal("a"), "x", 'must be "a"'],
    [z.enum(["sandbox", "live"]), "test", 'must be "sandbox" or "live"'],
    [
      z.enum(["red", "green", "blue"]),
      "gren",
      'must be "red", "green" or "blue". Did you mean "green"?',
    ],
    [z.string().regex(/^[a-z]+$/), "7", "must match the pattern /^[a-z]+$/"],
    [z.uuid(), "7", 'must have the format "uuid"'],
    [z.iso.date(), "7", 'must have the format "date"'],
    [z.union([z.string(), z.int()]), true, "has none of the allowed forms"],
    [z.string().max(1, { error: "is too long" }), "ab", "is too long"],
  ])("says in a sentence what is expected: %#", (schema, given, message) => {
    const error = thrownBy(() => parse(z.strictObject({ field: schema }), { field: given }));
    expect(error).toBeInstanceOf(TidingsError);
    expect(error).toMatchObject({ errors: [{ pointer: "/field", message }] });
  });

  test.each<[given: object, error: object]>([
    [{ type: "x" }, { code: "invalid_union", message: 'must be "send" or "ask"' }],
    [
      { type: "sned" },
      { code: "invalid_union", message: 'must be "send" or "ask". Did you mean "send"?' },
    ],
    [{ type: 5 }, { code: "invalid_union", message: 'must be "send" or "ask"' }],
    [{}, { code: "required", message: "Required." }],
  ])("names the values that decide between forms: %j", (given, error) => {
    const thrown = thrownBy(() => parse(z.strictObject({ step }), { step: given }));
    expect(thrown).toMatchObject({ errors: [{ pointer: "/step/type", ...error }] });
  });
});
