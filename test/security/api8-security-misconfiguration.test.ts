/** API8:2023. Responses have safe headers, and errors tell nothing of the inside. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { ApiResponse } from "../../src/api/http.ts";
import { call, jsonOf, textOf } from "../api/call.ts";
import { over } from "../support/over.ts";
import { withGroups } from "../support/storage/groups.ts";
import { allRoutes, guardedRoutes, requestOf, titled } from "./examples.ts";
import { newOwner, type Owner } from "./owner.ts";
import { idleWorld, startedWorld, type SecurityWorld } from "./world.ts";

const shop = "https://shop.example";
const left = AbortSignal.abort();

describe("the headers of a response", () => {
  let there: SecurityWorld;
  let own: Owner;
  beforeAll(async () => {
    there = await startedWorld({ webchat: { origins: [shop] } });
    own = await newOwner(there);
  });
  afterAll(() => there.stop());

  /** Names of headers that tell about the server, keep a state, or let other origins in. */
  const unwanted = /^(?:server|x-powered-by|set-cookie|x-aspnet.*|access-control-.*)$/i;

  const ways: readonly (readonly [what: string, headers: readonly string[]])[] = [
    ["an own page", []],
    ["another origin", ["Origin", "https://evil.example"]],
    ["an opaque origin", ["Origin", "null"]],
    ["an origin that begins alike", ["Origin", `${shop}.evil.example`]],
    ["an origin over http", ["Origin", "http://shop.example"]],
    ["several origins", ["Origin", shop, "Origin", "https://evil.example"]],
  ];

  test.each(allRoutes.map(titled))(
    "of $name let no other origin in, and are not cached or sniffed",
    async ({ route }) => {
      const request = requestOf(route, own);
      for (const [what, headers] of ways) {
        for (const key of [request.key, "wrong"]) {
          const asked = { ...request, key, headers, signal: left };
          const { status, headers: got } = await call(there.engine.api, asked);
          const names = Object.keys(got).filter((name) => unwanted.test(name));
          expect([what, status, names]).toEqual([what, status, []]);
          expect(got["Cache-Control"]).toMatch(/^(?:no-store|no-cache|no-store, no-transform)$/);
          expect(got["X-Content-Type-Options"]).toBe("nosniff");
          expect(got["Request-Id"]).toMatch(/^req_[0-9A-Z]{26}$/);
        }
      }
    },
  );

  test.each(allRoutes.map(titled))(
    "of a preflight to $name allow only a visitor's route, and only configured origins",
    async ({ route }) => {
      const { path } = requestOf(route, own);
      for (const origin of [shop, "https://evil.example", "null"]) {
        const headers = ["Origin", origin, "Access-Control-Request-Method", route.method];
        const answer = await call(there.engine.api, { method: "OPTIONS", path, headers });
        const isAllowed = "visitor" in route && origin === shop;
        expect([origin, answer.status, answer.headers["Access-Control-Allow-Origin"]]).toEqual([
          origin,
          204,
          isAllowed ? shop : undefined,
        ]);
        expect(answer.headers).not.toHaveProperty("Access-Control-Allow-Credentials");
      }
    },
  );
});

/** What a driver's error may quote. */
const inside =
  'SELECT * FROM tidings_keys WHERE secret = "hunter2" at Pool.query (/srv/app/database.ts:10:7)';

describe("an error inside", () => {
  let there: SecurityWorld;
  let own: Owner;
  let isBroken = false;
  beforeAll(async () => {
    const storage = memory();
    const check = async <T>(run: () => T): Promise<Awaited<T>> => {
      if (!isBroken) return await run();
      throw Object.assign(new Error(inside), { code: "ECONNREFUSED", address: "10.0.0.7" });
    };
    const groups = withGroups(storage, {
      read: (lookups, group) => check(() => group.read(lookups)),
      commit: (writes, group) => check(() => group.commit(writes)),
    });
    there = idleWorld({
      storage: over(groups, {
        reader: over(storage.reader, {
          get: (lookups) => check(() => storage.reader.get(lookups)),
          range: (range) => check(() => storage.reader.range(range)),
          search: (searches) => check(() => storage.reader.search(searches)),
        }),
      }),
    });
    own = await newOwner(there);
  });
  afterAll(() => there.stop());

  test.each(guardedRoutes.map(titled))("is not shown by $name", async ({ route }) => {
    isBroken = false;
    const request = { ...requestOf(route, own), signal: left };
    // The key is in the cache, so the request gets further.
    await call(there.engine.api, { path: "/v1/account", key: own.secret });
    isBroken = true;
    let answer: ApiResponse;
    try {
      answer = await call(there.engine.api, request);
    } finally {
      isBroken = false;
    }
    const text = `${JSON.stringify(answer.headers)} ${textOf(answer)}`;
    expect(text).not.toMatch(/hunter2|SELECT|tidings_|\.ts|\bat |ECONN|10\.0\.0\.7|Pool|stack/);
    if (answer.status < 400) return;
    expect(jsonOf(answer)).toMatchObject({
      status: expect.toBeOneOf([500, 503]) as unknown,
      retryable: true,
      errors: [],
    });
  });
});

test("errors of wrong requests name no file, class or type of the implementation", async () => {
  const there = await startedWorld();
  const own = await newOwner(there);
  for (const route of guardedRoutes) {
    const request = { ...requestOf(route, own), signal: left };
    const texts = ['{"a":', "null", "[1]", '"x"', "7", '{"__proto__":{"x":1}}', '{"name":{}}'];
    for (const raw of route.method === "GET" ? [] : texts) {
      const { body: _, ...others } = request;
      const { status, body } = await call(there.engine.api, { ...others, raw });
      expect([raw, textOf({ body })]).toEqual([
        raw,
        expect.not.stringMatching(/\.ts\b|node_modules|node:|Zod|SyntaxError|TypeError|\bat \w/),
      ]);
      expect(status).toBeLessThan(500);
    }
  }
  await there.stop();
});
