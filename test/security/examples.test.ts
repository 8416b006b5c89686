import { afterAll, expect, test } from "vitest";
import { call } from "../api/call.ts";
import {
  guardedRoutes,
  leastScopes,
  leftOver,
  mustSucceed,
  requestOf,
  titled,
} from "./examples.ts";
import { newOwner } from "./owner.ts";
import { startedWorld } from "./world.ts";

const there = await startedWorld();
const own = await newOwner(there);
afterAll(() => there.stop());

/** The chapter on object properties carries out the examples of the other routes. */
const lasting = guardedRoutes.filter(({ operation: { kind } }) =>
  ["query", "stream", "signal"].includes(kind),
);

test.each(lasting.map(titled))(
  "$name has an example, and needs no other scope than its own",
  async ({ route }) => {
    const request = requestOf(route, own);
    const key = "scopes" in route ? await there.keyWith(own, leastScopes(route)) : request.key;
    const left = AbortSignal.abort();
    mustSucceed(route, await call(there.engine.api, { ...request, key, signal: left }));
  },
);

test("no example is of a route that does not exist", () => {
  expect(leftOver).toEqual([]);
});
