/** API6:2023. Nobody sends faster than allowed, and no test message leaves the sandbox. */
import { afterAll, describe, expect, test } from "vitest";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { call, jsonOf } from "../api/call.ts";
import { carrier } from "../support/engines/carrier.ts";
import { guardedRoutes, requestOf, titled } from "./examples.ts";
import { newOwner } from "./owner.ts";
import { startedWorld } from "./world.ts";

const live = carrier({ name: "live", modes: ["live"] });
const there = await startedWorld({ transports: [sandbox(), live] });
afterAll(() => there.stop());
const own = await newOwner(there);
/** A key of an account whose plan allows one request in a second. It has had its request. */
const { secret: slow } = (
  await there.engine.accounts.create({
    name: "slow",
    plan: { name: "slow", requests_per_second: 1 },
  })
).key;
await call(there.engine.api, { path: "/v1/account", key: slow });
// A session may make 20 requests in a second.
for (let i = 0; i < 20; i++) {
  const path = `/v1/webchat/sessions/${own.ids["webchat"] ?? ""}/messages`;
  await call(there.engine.api, { path, key: own.token });
}

/** What might make another caller of the same one, for a server that believes it. */
const disguises: readonly (readonly string[])[] = [
  [],
  ["X-Forwarded-For", "192.0.2.7"],
  ["Forwarded", "for=192.0.2.7"],
  ["X-Real-IP", "192.0.2.7"],
  ["Idempotency-Key", "new"],
];

test.each(guardedRoutes.map(titled))(
  "$name answers 429 with the wait over the limit, and changes nothing",
  async ({ route }) => {
    const request = requestOf(route, own);
    const key = "visitor" in route ? request.key : slow;
    const before = await there.written();
    for (const headers of disguises) {
      const answer = await call(there.engine.api, { ...request, key, headers });
      expect(jsonOf(answer)).toMatchObject({ status: 429, code: "rate_limited", retryable: true });
      expect(answer.headers).toMatchObject({
        "Retry-After": "1",
        RateLimit: expect.stringMatching(/^"requests";r=0;t=1$/) as unknown,
        "RateLimit-Policy": expect.stringMatching(/^"requests";q=\d+;w=1$/) as unknown,
      });
    }
    expect((await there.written()).slice(before.length)).toEqual([]);
  },
);

test("all secrets of a key, spellings of the scheme and HEAD requests share one limit", async () => {
  const plan = { name: "slow", requests_per_second: 3 };
  const { account, key } = await there.engine.accounts.create({ name: "slow", plan });
  const first = key.secret;
  const { apiKeys } = there.engine.account(account.id, { mode: "sandbox" });
  const second = (await apiKeys.rotate(key.id)).secret;
  const ask = async (method: string, authorization: string): Promise<number> =>
    (
      await call(there.engine.api, {
        method,
        path: "/v1/account",
        headers: ["Authorization", authorization],
      })
    ).status;
  const statuses = [
    await ask("GET", `Bearer ${first}`),
    await ask("GET", `bearer   ${second}`),
    await ask("HEAD", `BEARER ${first}`),
    await ask("GET", `Bearer ${second}`),
    await ask("HEAD", `Bearer ${first}`),
  ];
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});

describe("the sandbox", () => {
  test("never reaches a live carrier, to no test number and to no real one", async () => {
    const { data: numbers } = await there.engine.sandbox.numbers();
    const { secret: key } = await there.tenant("sandbox");
    const to = [...numbers.map(({ number }) => number), "+14155550100"];
    for (const each of to) {
      const body = { to: each, body: "Hello" };
      const sent = await call(there.engine.api, {
        method: "POST",
        path: "/v1/messages",
        key,
        body,
      });
      expect([each, sent.status]).toEqual([each, 201]);
    }
    await there.clock.advance(600_000);
    const listed = await call(there.engine.api, { path: "/v1/messages?limit=100", key });
    const { data } = jsonOf(listed) as { data: { status: string }[] };
    expect(data.map(({ status }) => status)).not.toContain("queued");
    expect(live.calls).toEqual([]);
  });

  test("cannot use a sender over a live carrier, and a live key no sender of the sandbox", async () => {
    const { secret: key, scope } = await there.tenant("sandbox");
    const other = await there.other({ secret: key, scope });
    const create = (transport: string, as: string) =>
      call(there.engine.api, {
        method: "POST",
        path: "/v1/senders",
        key: as,
        body: { address: "+14155550111", channels: ["sms"], transport },
      });
    expect((await create("live", key)).status).toBe(422);
    expect((await create("sandbox", other.secret)).status).toBe(422);
    expect((await create("live", other.secret)).status).toBe(201);
  });
});
