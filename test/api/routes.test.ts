import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { call, jsonOf } from "./call.ts";
import { storages, world, type Kept, type Tenant, type World } from "./world.ts";

type Authorized = Extract<ApiRoute, { scopes: readonly unknown[] }>;

const routes = apiRoutes(defaultLimits).filter((route): route is Authorized => "scopes" in route);
/** The required query parameters of lists. */
const queries: Readonly<Record<string, string>> = {
  "/v1/contacts/search": "?q=anna",
  "/v1/conversations/search": "?q=anna",
};

describe.each(storages)("over $name", ({ make }) => {
  let there: World;
  let own: Tenant;
  let kept: Kept;
  beforeAll(async () => {
    kept = await make();
    there = world({}, kept.storage);
    own = await there.tenant("sandbox");
  });
  afterAll(async () => {
    await there.engine.stop();
    await kept.remove();
  });

  test("responses match the schemas of the document", async () => {
    const { secret: key } = await there.tenant("sandbox");
    await call(there.engine.api, {
      method: "POST",
      path: "/v1/messages",
      key,
      body: { to: "+15005550001", body: "hello" },
    });
    for (const route of routes) {
      if (route.method !== "GET" || route.path.includes(":") || !("response" in route)) continue;
      const answer = await call(there.engine.api, {
        path: `${route.path}${queries[route.path] ?? ""}`,
        key,
      });
      expect(answer.status).toBe(200);
      expect(route.response?.safeParse(jsonOf(answer)).error).toBeUndefined();
    }
  });

  test("an Idempotency-Key replays the same bytes, and rejects other input", async () => {
    const send = (body: string, key: string) =>
      call(there.engine.api, {
        method: "POST",
        path: "/v1/messages",
        key: own.secret,
        headers: ["Idempotency-Key", key],
        body: { to: "+15005550001", body },
      });
    const first = await send("once", "k1");
    const again = await send("once", '"k1"');
    expect(first.status).toBe(201);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect([first.headers["Idempotent-Replayed"], again.headers["Idempotent-Replayed"]]).toEqual([
      undefined,
      "true",
    ]);
    expect(jsonOf(await send("other", "k1"))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });

    const cancel = () =>
      call(there.engine.api, {
        method: "POST",
        path: "/v1/messages/msg_01JZZZZZZZZZZZZZZZZZZZZZZZ/cancel",
        key: own.secret,
        headers: ["Idempotency-Key", "k2"],
      });
    const missed = await cancel();
    const missedAgain = await cancel();
    expect(missed.status).toBe(404);
    expect([missedAgain.status, missedAgain.body]).toEqual([missed.status, missed.body]);
    expect(missedAgain.headers).toMatchObject({
      "Idempotent-Replayed": "true",
      "Content-Type": "application/problem+json",
    });
    expect(there.errors).toEqual([]);
  });

  test("a preview ignores an Idempotency-Key, which a send can then use", async () => {
    const post = (path: string) =>
      call(there.engine.api, {
        method: "POST",
        path,
        key: own.secret,
        headers: ["Idempotency-Key", "k3"],
        body: { to: "+15005550001", body: "later", idempotency_key: "k3" },
      });
    const previews = [await post("/v1/messages/preview"), await post("/v1/messages/preview")];
    for (const { status, headers } of previews) {
      expect([status, headers["Idempotent-Replayed"]]).toEqual([200, undefined]);
    }
    expect((await post("/v1/messages")).status).toBe(201);
  });
});
