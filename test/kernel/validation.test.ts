import { describe, expect, test } from "vitest";
import * as z from "zod";
import { TidingsError } from "../../src/kernel/errors.ts";
import { text } from "../../src/kernel/fields.ts";
import { inBody, inQuery, parse, type Locate } from "../../src/kernel/validation.ts";
import { thrownBy } from "../support/thrown-by.ts";

const step = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("send"), text: z.string() }),
  z.strictObject({ type: z.literal("ask") }),
]);

describe("the error of a field", () => {
  test.each<[schema: z.ZodType, given: unknown, message: string]>([
    [z.string(), undefined, "Required. It must be a string."],
    [z.enum(["sandbox", "live"]), undefined, 'Required. It must be "sandbox" or "live".'],
    [z.union([z.string(), z.int()]), undefined, "Required."],
    [z.string(), 17, "must be a string, got 17"],
    [z.int(), 1.5, "must be a whole number, got 1.5"],
    [z.number(), "abc", 'must be a number, got "abc"'],
    [z.int(), "", 'must be a number, got ""'],
    [z.boolean(), "yes", 'must be true or false, got "yes"'],
    [z.array(z.string()), "a secret", "must be a list, got a string"],
    [z.array(z.string()), {}, "must be a list, got an object"],
    [z.strictObject({}), [], "must be an object, got a list of 0"],
    [z.record(z.string(), z.string()), null, "must be an object, got null"],
    [z.array(z.string()).min(1), [], "must have at least 1 item, got 0"],
    [z.array(z.string()).max(2), ["a", "b", "c"], "must have at most 2 items, got 3"],
    [z.string().min(2), "a", "must have at least 2 characters, got 1"],
    [z.string().max(1), "ab", "must have at most 1 character, got 2"],
    [text(2), "🌱🌱🌱", "must have at most 2 characters, got 3"],
    [z.string().length(6), "abc", "must have exactly 6 characters, got 3"],
    [z.string().length(6), "abcdefg", "must have exactly 6 characters, got 7"],
    [z.array(z.string()).length(1), [], "must have exactly 1 item, got 0"],
    [z.int().min(1), 0, "must be 1 or more, got 0"],
    [z.int().max(100), 101, "must be 100 or less, got 101"],
    [z.int().max(100), 1e20, "must be 100 or less, got 100000000000000000000"],
    [z.int().min(1), -1e20, "must be 1 or more, got -100000000000000000000"],
    [z.int(), 1e20, "must be 9007199254740991 or less, got 100000000000000000000"],
    [z.number().gt(0), 0, "must be more than 0, got 0"],
    [z.number().lt(1), 1, "must be less than 1, got 1"],
    [z.literal("a"), "x", 'must be "a", got "x"'],
    [z.enum(["sandbox", "live"]), "test", 'must be "sandbox" or "live", got "test"'],
    [z.enum(["sandbox", "live"]), 7, 'must be "sandbox" or "live", got 7'],
    [z.literal("a"), "x".repeat(50), `must be "a", got "${"x".repeat(39)}…"`],
    [
      z.enum(["red", "green", "blue"]),
      "gren",
      'must be "red", "green" or "blue", got "gren". Did you mean "green"?',
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

  test("says what is wrong with the key of a map", () => {
    const map = z.strictObject({ field: z.record(z.string().min(1).max(3), z.string()) });
    expect(
      thrownBy(() => parse(map, { field: { long_key: "a", "": "b", key: "c" } })),
    ).toMatchObject({
      errors: [
        { pointer: "/field/long_key", message: "the key must have at most 3 characters, got 8" },
        { pointer: "/field/", message: "the key must have at least 1 character, got 0" },
      ],
    });
  });

  test("reports each wrong number once", () => {
    const range = z.strictObject({ seconds: z.int().min(1).max(60), days: z.int().max(366) });
    const error = thrownBy(() => parse(range, { seconds: 1e20, days: 1e20 }));
    expect(error).toMatchObject({
      errors: [
        {
          pointer: "/seconds",
          code: "too_big",
          message: "must be 60 or less, got 100000000000000000000",
        },
        {
          pointer: "/days",
          code: "too_big",
          message: "must be 366 or less, got 100000000000000000000",
        },
      ],
    });
    expect(error).toHaveProperty("errors.length", 2);
  });

  test.each<[given: object, error: object]>([
    [{ type: "x" }, { code: "invalid_union", message: 'must be "send" or "ask", got "x"' }],
    [
      { type: "sned" },
      {
        code: "invalid_union",
        message: 'must be "send" or "ask", got "sned". Did you mean "send"?',
      },
    ],
    [{ type: 5 }, { code: "invalid_union", message: 'must be "send" or "ask", got 5' }],
    [{}, { code: "required", message: 'Required. It must be "send" or "ask".' }],
  ])("names the values that decide between forms: %j", (given, error) => {
    const thrown = thrownBy(() => parse(z.strictObject({ step }), { step: given }));
    expect(thrown).toMatchObject({ errors: [{ pointer: "/step/type", ...error }] });
  });
});

const noteInput = z.strictObject({
  id: z.string(),
  to: z.string(),
  priority: z.int(),
  author: z.strictObject({ name: z.string() }),
});
const note = { id: "n", to: "Ann", priority: 1, author: { name: "Bob" } };

describe("the error of an unknown field", () => {
  test.each<[unknown: object, place: string, message: string]>([
    [{ prioriy: 1 }, "/prioriy", 'Unknown field "prioriy". Did you mean "priority"?'],
    [{ To: "Ann" }, "/To", 'Unknown field "To". Did you mean "to"?'],
    [{ x: 1 }, "/x", 'Unknown field "x". Remove it.'],
    [
      { author: { name: "Bob", Name: "" } },
      "/author/Name",
      'Unknown field "Name". Did you mean "name"?',
    ],
  ])("suggests the nearest known one: %j", (unknown, pointer, message) => {
    const error = thrownBy(() => parse(noteInput, { ...note, ...unknown }));
    expect(error).toMatchObject({ errors: [{ pointer, code: "unknown_field", message }] });
  });

  test("calls a parameter of a query a parameter", () => {
    const error = thrownBy(() =>
      parse(noteInput, { ...note, prioriy: 1, foo: 1 }, { locate: inQuery }),
    );
    expect(error).toMatchObject({
      errors: [
        { parameter: "prioriy", message: 'Unknown parameter "prioriy". Did you mean "priority"?' },
        { parameter: "foo", message: 'Unknown parameter "foo". Remove it.' },
      ],
    });
  });

  test("names the fields that the input lacks, once for each object", () => {
    const given = { id: "n", to: "Ann", text: "Hello", when: "now", author: { nick: "Bob" } };
    const error = thrownBy(() => parse(noteInput, given));
    expect(error).toMatchObject({
      errors: [
        { pointer: "/priority", code: "required" },
        { pointer: "/author/name", code: "required" },
        { pointer: "/author/nick", message: 'Unknown field "nick". Other fields: name.' },
        { pointer: "/text", message: 'Unknown field "text". Other fields: priority.' },
        { pointer: "/when", message: 'Unknown field "when". Remove it.' },
      ],
    });
  });

  test("names the parameters that a query lacks", () => {
    const error = thrownBy(() => parse(noteInput.partial(), { foo: 1 }, { locate: inQuery }));
    const message = 'Unknown parameter "foo". Other parameters: id, to, priority, author.';
    expect(error).toMatchObject({ errors: [{ parameter: "foo", message }] });
  });

  test.each(["x", "foo"])("suggests no other if there is none: %s", (name) => {
    const error = thrownBy(() => parse(z.strictObject({}), { [name]: 1 }));
    expect(error).toMatchObject({ errors: [{ message: `Unknown field "${name}". Remove it.` }] });
  });

  test("suggests only what is sent in the same place", () => {
    const locate: Locate = (path) => (path[0] === "id" ? inQuery(path) : inBody(path));
    const error = thrownBy(() => parse(noteInput, { ...note, idd: 1 }, { locate }));
    expect(error).toMatchObject({
      errors: [{ pointer: "/idd", message: 'Unknown field "idd". Remove it.' }],
    });
  });

  test.each([
    ["idempotency_key", "Pass { idempotencyKey } as the last argument."],
    ["idempotencyKey", "Pass { idempotencyKey } as the last argument."],
    ["tx", "Pass { tx } as the last argument."],
    ["To", 'Did you mean "to"?'],
    ["xyz", "Remove it."],
  ])("says where an option of the method belongs: %s", (name, advice) => {
    const options = ["idempotencyKey", "tx"];
    const error = thrownBy(() => parse(noteInput, { ...note, [name]: "k" }, { options }));
    expect(error).toMatchObject({ errors: [{ message: `Unknown field "${name}". ${advice}` }] });
  });

  test("takes a short name for no option of the method that has another name", () => {
    const error = thrownBy(() => parse(z.strictObject({}), { to: 1 }, { options: ["tx"] }));
    expect(error).toMatchObject({ errors: [{ message: 'Unknown field "to". Remove it.' }] });
  });
});
