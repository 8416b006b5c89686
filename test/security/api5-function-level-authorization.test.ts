/** API5:2023. A key does what its scopes and its mode allow, however the request is written. */
import { afterAll, describe, expect, test } from "vitest";
import { keyScopes } from "../../src/operations/caller.ts";
import { call, jsonOf } from "../api/call.ts";
import { allRoutes, nameOf, requestOf, scopedRoutes, titled } from "./examples.ts";
import { newOwner } from "./owner.ts";
import { startedWorld } from "./world.ts";

const there = await startedWorld();
const own = await newOwner(there);
afterAll(() => there.stop());

const scoped = scopedRoutes.filter(({ scopes }) => scopes.length > 0);

describe.each(scoped.map(titled))("$name", ({ route }) => {
  // `examples.test.ts` checks that the route's own scopes are enough.
  test("answers 403 with the missing scope to a key that lacks one, and changes nothing", async () => {
    for (const scope of route.scopes) {
      const key = await there.keyWith(
        own,
        keyScopes.filter((each) => each !== scope),
      );
      const before = await there.written();
      const answer = await call(there.engine.api, { ...requestOf(route, own), key });
      expect(jsonOf(answer)).toMatchObject({
        status: 403,
        code: "insufficient_scope",
        detail: expect.stringContaining(scope) as unknown,
      });
      expect((await there.written()).slice(before.length)).toEqual([]);
    }
  });

  test("is not reached by another method, or by a header that names one", async () => {
    const key = await there.keyWith(own, ["events:read"]);
    if (route.scopes.includes("events:read")) return;
    const { path } = requestOf(route, own);
    const before = await there.written();
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY", "get"]) {
      const { status } = await call(there.engine.api, {
        method,
        path,
        key,
        headers: ["X-HTTP-Method-Override", route.method, "X-Original-URL", "/v1/account"],
      });
      expect([method, status]).toEqual([method, expect.toBeOneOf([403, 405]) as unknown]);
    }
    expect((await there.written()).slice(before.length)).toEqual([]);
  });
});

const wider = [
  ["POST", "/v1/api-keys", { name: "x", scopes: ["keys:manage", "messages:read"] }],
  ["POST", "/v1/api-keys", { name: "x", mode: "live" }],
  ["POST", "/v1/api-keys/:id/rotate", {}],
  ["DELETE", "/v1/api-keys/:id", {}],
] as const;

test.each(wider)(
  "a key that manages keys gets no further than its own rights: %s %s %j",
  async (method, path, body) => {
    const { engine } = there;
    const { apiKeys } = engine.account(own.scope.account_id, { mode: own.scope.mode });
    const { id } = await apiKeys.create({ name: "all" });
    const key = await there.keyWith(own, ["keys:manage"]);
    const before = await there.written();
    const request = { method, path: path.replace(":id", id), key, body };
    expect((await call(engine.api, request)).status).toBe("mode" in body ? 422 : 403);
    expect((await there.written()).slice(before.length)).toEqual([]);
  },
);

const ofSandbox = allRoutes.filter(({ path }) => path.startsWith("/v1/sandbox/"));

test.each(ofSandbox.map(titled))("a live key cannot use $name", async ({ route }) => {
  const live = await there.other(own);
  const before = await there.written();
  const answer = await call(there.engine.api, { ...requestOf(route, own), key: live.secret });
  expect([nameOf(route), answer.status]).toEqual([nameOf(route), 409]);
  expect((await there.written()).slice(before.length)).toEqual([]);
});
