import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeyScope } from "../../src/operations/operation.ts";
import { call, textOf } from "../api/call.ts";
import { guardedRoutes, leftOver, requestOf, titled } from "./examples.ts";
import { newOwner, type Owner } from "./owner.ts";
import { type SecurityWorld, startedWorld } from "./world.ts";

let there: SecurityWorld;
let reader: Owner;
beforeAll(async () => {
  there = await startedWorld();
  reader = await newOwner(there);
});
afterAll(() => there.stop());

test.each(guardedRoutes.map(titled))(
  "$name has an example, and needs no other scope than its own",
  async ({ name, route }) => {
    const own = route.method === "GET" ? reader : await newOwner(there);
    const request = requestOf(route, own);
    // A route without scopes takes any key.
    const scopes: KeyScope[] = "scopes" in route ? [...route.scopes] : [];
    if (scopes.length === 0) scopes.push("events:read");
    const key = "visitor" in route ? request.key : await there.keyWith(own, scopes);
    const left = AbortSignal.abort();
    const { status, body } = await call(there.engine.api, { ...request, key, signal: left });
    if (status < 300) return;
    expect.fail(
      `${name} answered ${status} to its example. Add or correct it in ` +
        `test/security/examples.ts, so that the security suite attacks this route: ${textOf({ body })}`,
    );
  },
);

test("no example is of a route that does not exist", () => {
  expect(leftOver).toEqual([]);
});
