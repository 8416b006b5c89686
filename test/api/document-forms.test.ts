import { Ajv } from "ajv";
import formats from "ajv-formats";
import { afterAll, expect, test } from "vitest";
import { guardedRoutes, nameOf, requestOf } from "../security/examples.ts";
import { bodySchemaOf, openApi, resolved, type Schema } from "../security/fields.ts";
import { newOwner } from "../security/owner.ts";
import { startedWorld } from "../security/world.ts";
import { call, jsonOf } from "./call.ts";

const there = await startedWorld();
const own = await newOwner(there);
afterAll(() => there.stop());

const ajv = new Ajv({ strict: false });
formats.default(ajv);
ajv.addSchema(openApi, "document");
const writing = guardedRoutes.filter((route) => bodySchemaOf(route) !== undefined);

interface Refusal {
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
}

/** The texts and lists that forms get wrong most often. */
function mistakes(schema: Schema): readonly unknown[] {
  const { type, items, anyOf = [] } = resolved(schema);
  if (type === "string") return ["", " ", "\t\n"];
  const { type: kind, enum: choices } = items === undefined ? {} : resolved(items);
  if (kind !== "string") return anyOf.flatMap(mistakes);
  const item = choices?.[0] ?? "a";
  return [[item, item]];
}

/** Says that a field is wrong only beside others, or in this account, which no document says. */
const isBesides = ({ code, message }: Refusal): boolean =>
  /^unknown_|^invalid_return_key$/.test(code) ||
  / unless |cannot be combined|exactly one/.test(message);

/** Whether the document accepts a value of a field. */
function isDescribed(schema: Schema, value: unknown): boolean {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  return ajv.validate(JSON.parse(text) as object, value);
}

/** The lists in a schema, by their places, that may have any number of items. */
function endlessLists(schema: Schema, at: string, within: readonly Schema[] = []): string[] {
  const whole = resolved(schema);
  if (within.includes(whole)) return [];
  const inside = [...within, whole];
  const { properties = {}, items, anyOf = [], oneOf = [] } = whole;
  return [
    ...(items !== undefined && whole.maxItems === undefined ? [at] : []),
    ...(items === undefined ? [] : endlessLists(items, `${at}[]`, inside)),
    ...[...anyOf, ...oneOf].flatMap((each) => endlessLists(each, at, inside)),
    ...Object.entries(properties).flatMap(([name, each]) =>
      endlessLists(each, `${at}.${name}`, inside),
    ),
  ];
}

// Each wrong item costs an error, and a body has room for 250,000 of them.
test("every list in a request has a maximum number of items", () => {
  const endless = writing.flatMap((route) =>
    endlessLists(bodySchemaOf(route) ?? {}, nameOf(route)),
  );
  expect(endless).toEqual([]);
});

test.each(writing.map((route) => ({ name: nameOf(route), route })))(
  "$name refuses a blank text and a repeated item exactly if the document does",
  async ({ route }) => {
    const request = requestOf(route, own);
    for (const [field, schema] of Object.entries(bodySchemaOf(route)?.properties ?? {})) {
      // It is no field of the input, and has a code of its own.
      if (field === "idempotency_key") continue;
      for (const value of mistakes(schema)) {
        const body = { ...request.body, [field]: value };
        const { errors = [] } = jsonOf(await call(there.engine.api, { ...request, body })) as {
          readonly errors?: readonly Refusal[];
        };
        const refusals = errors.filter(
          (error) => error.pointer?.startsWith(`/${field}`) === true && !isBesides(error),
        );
        expect([field, value, isDescribed(schema, value), refusals]).toEqual([
          field,
          value,
          refusals.length === 0,
          refusals,
        ]);
      }
    }
  },
);

const size = { name: "size", type: "text", required: true, prompt: "Which size?" };

test.each([
  ["playbooks", "slots", [{ ...size, enum: ["Yes", "Yes"] }]],
  ["webhooks", "headers", { "": "x" }],
  ["webhooks", "headers", { "X Shop": "x" }],
  ["webhooks", "headers", { [`X-${"a".repeat(99)}`]: "x" }],
  ["webhooks", "headers", { "X-Shop": "" }],
  ["webhooks", "headers", { "X-Shop": "a\nb" }],
  ["webhooks", "headers", { "X-Shop": "a".repeat(1_025) }],
])("POST /v1/%s refuses these %s, as the document does: %j", async (path, field, wrong) => {
  const route = writing.find((each) => nameOf(each) === `POST /v1/${path}`) ?? expect.fail();
  const request = requestOf(route, own);
  const body = { ...request.body, [field]: wrong };
  expect(jsonOf(await call(there.engine.api, { ...request, body }))).toMatchObject({
    errors: [{ pointer: expect.stringMatching(`^/${field}/`) as string }],
  });
  expect(isDescribed(bodySchemaOf(route)?.properties?.[field] ?? {}, wrong)).toBe(false);
});
