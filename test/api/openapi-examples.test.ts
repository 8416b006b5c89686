/** Each example of a request in the document is one that the API accepts. */
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { afterAll, expect, test } from "vitest";
import type { ApiResponse } from "../../src/api/http.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { guardedRoutes, requestOf, titled } from "../security/examples.ts";
import { bodySchemaOf, openApi, type OpenApi } from "../security/fields.ts";
import { newOwner } from "../security/owner.ts";
import { startedWorld } from "../security/world.ts";
import { call, jsonOf, textOf } from "./call.ts";

const there = await startedWorld();
const own = await newOwner(there);
afterAll(() => there.stop());

const ajv = new Ajv({ strict: false });
formats.default(ajv);
ajv.addSchema(openApi, "document");

interface Content {
  readonly schema: object;
  readonly example?: object;
}

const describedAs = ({ method, path }: ApiRoute): OpenApi["paths"][string][string] | undefined =>
  openApi.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];

const contentOf = (route: ApiRoute): Content | undefined =>
  describedAs(route)?.requestBody?.content["application/json"];

/** The routes whose bodies have other fields than an idempotency key. */
const writing = guardedRoutes.filter((route) => {
  const fields = Object.keys(bodySchemaOf(route)?.properties ?? {});
  return fields.some((name) => name !== "idempotency_key");
});

test.each(writing.map(titled))("$name has an example, which is accepted", async ({ route }) => {
  const { schema, example } = contentOf(route) ?? expect.fail();
  expect(example).toBeDefined();
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  expect([ajv.validate(JSON.parse(text) as object, example), ajv.errorsText()]).toEqual([
    true,
    "No errors",
  ]);
  const ids = Object.fromEntries(
    [...route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, "text"]),
  );
  const input = route.operation.input(defaultLimits).safeParse({ ...ids, ...example });
  expect(input.error).toBeUndefined();
  const request = requestOf(route, own);
  const answer = await call(there.engine.api, { ...request, body: example });
  // The ids of an example exist nowhere, and its phone numbers may be in use.
  const isFine = answer.status < 300 || [404, 409].includes(answer.status) || isUnknown(answer);
  expect([isFine, isFine ? "" : textOf(answer)]).toEqual([true, ""]);
});

test.each(writing.map(titled))(
  "$name says whether it needs a body, and is refused without one if so",
  async ({ route }) => {
    const { body: _, ...request } = requestOf(route, own);
    const { status } = await call(there.engine.api, request);
    expect([describedAs(route)?.requestBody?.required, status]).toEqual([status === 422, status]);
  },
);

function isUnknown(answer: ApiResponse): boolean {
  const { errors = [] } = jsonOf(answer) as { errors?: readonly { readonly code: string }[] };
  return errors.length > 0 && errors.every(({ code }) => /^unknown_(?!field$)/.test(code));
}
