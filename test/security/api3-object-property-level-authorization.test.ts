/** API3:2023. A request sets documented fields only, and a response shows documented fields only. */
import { afterAll, describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/api/http.ts";
import { call, jsonOf, textOf } from "../api/call.ts";
import { cases } from "../support/runs.ts";
import {
  guardedRoutes,
  leastScopes,
  mustSucceed,
  requestOf,
  titled,
  type Body,
  type OwnRequest,
} from "./examples.ts";
import { bodySchemaOf, fieldsOf } from "./fields.ts";
import { newOwner, ownerFor } from "./owner.ts";
import { startedWorld } from "./world.ts";

const there = await startedWorld();
const own = await newOwner(there);
afterAll(() => there.stop());

const writing = guardedRoutes.filter((route) => bodySchemaOf(route) !== undefined);
const reading = guardedRoutes.filter(
  ({ method, operation }) => method === "GET" && operation.kind === "query",
);
const ask = (request: OwnRequest): Promise<ApiResponse> => call(there.engine.api, request);

/** Fields that responses show and no request may set, and fields that no resource has. */
const forbidden: Body = {
  id: "msg_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  account_id: "acct_01JZZZZZZZZZZZZZZZZZZZZZZZ",
  mode: "live",
  created_at: "2020-01-01T00:00:00Z",
  updated_at: "2020-01-01T00:00:00Z",
  version: 7,
  status: "delivered",
  direction: "inbound",
  secret: "whsec_own",
  secret_hash: "0".repeat(64),
  last_used_at: null,
  requests_per_second: 1_000_000,
  author: { type: "human", id: "kim" },
  is_admin: true,
  constructor: { prototype: { is_admin: true } },
  $where: "1",
};

describe.each(writing.map(titled))("$name", ({ route }) => {
  test("refuses every field that it does not document, with its place, and changes nothing", async () => {
    const known = new Set(fieldsOf(route).map(({ name }) => name));
    const request = requestOf(route, await ownerFor(there, route, own));
    const before = await there.written();
    for (const [name, value] of Object.entries(forbidden)) {
      if (known.has(name)) continue;
      const answer = await ask({ ...request, body: { ...request.body, [name]: value } });
      expect([name, answer.status, jsonOf(answer)["errors"]]).toEqual([
        name,
        422,
        [expect.objectContaining({ pointer: `/${name}`, code: "unknown_field" })],
      ]);
    }
    for (const [at, body] of insides(request.body ?? {})) {
      const answer = await ask({ ...request, body });
      expect([at, textOf(answer)]).toEqual([at, expect.stringContaining("unknown_field")]);
    }
    expect((await there.written()).slice(before.length)).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

/** The body with an unknown field in each object inside it. */
function insides(body: Body): readonly (readonly [at: string, body: Body])[] {
  const found: [string, Body][] = [];
  const walk = (value: unknown, at: string, rebuild: (changed: unknown) => Body): void => {
    if (typeof value !== "object" || value === null) return;
    if (at !== "" && !Array.isArray(value)) {
      found.push([at, rebuild({ ...value, unknown_field: 1 })]);
    }
    for (const [key, each] of Object.entries(value)) {
      walk(each, `${at}/${key}`, (changed) =>
        rebuild(
          Array.isArray(value)
            ? value.with(Number(key), changed)
            : { ...(value as Body), [key]: changed },
        ),
      );
    }
  };
  walk(body, "", (changed) => changed as Body);
  return found;
}

/** The documented schema, which allows no other fields, is what clients may see. */
function expectDocumented(
  { route, request }: { route: (typeof guardedRoutes)[number]; request: OwnRequest },
  answer: ApiResponse,
): void {
  if (!("response" in route) || route.response === undefined) return;
  const { error } = route.response.safeParse(jsonOf(answer));
  expect([request.path, answer.status, error?.issues]).toEqual([
    request.path,
    expect.toBeOneOf([200, 201, 202]),
    undefined,
  ]);
}

test.each(reading.map(titled))(
  "$name shows only what is documented, and no secret",
  async ({ route }) => {
    const request = requestOf(route, await ownerFor(there, route, own));
    const answer = await ask(request);
    expectDocumented({ route, request }, answer);
    for (const secret of own.secrets) expect(textOf(answer)).not.toContain(secret);
    expect(textOf(answer)).not.toMatch(/whsec_|tdg_(?:test|live)_\w|"secret|_hash"/);
  },
);

/** Each makes an account of its own. Those of these paths may show a secret. */
const changing = cases(
  guardedRoutes.filter(({ operation: { kind } }) => kind === "command" || kind === "procedure"),
  ({ path }) => /api-keys|webhooks|webchat|messages/.test(path),
);

test.each(changing.map(titled))(
  "$name responds with what is documented to a key with its scope, and repeats no secret",
  async ({ route }) => {
    const owner = await newOwner(there);
    const usual = requestOf(route, owner);
    const key = "scopes" in route ? await there.keyWith(owner, leastScopes(route)) : usual.key;
    const request = { ...usual, key, headers: ["Idempotency-Key", route.operation.name] };
    const first = await ask(request);
    mustSucceed(route, first);
    if (first.status !== 204) expectDocumented({ route, request }, first);
    const again = await ask(request);
    // An erasure erases the response, and a reset the key.
    if (again.headers["Idempotent-Replayed"] === undefined || first.body === null) return;
    for (const name of ["secret", "token", "return_key"]) {
      if (name in jsonOf(first)) expect(jsonOf(again)[name]).toBeNull();
    }
  },
);
