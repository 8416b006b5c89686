import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { KeyScope } from "../../src/operations/caller.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { call, jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { telling } from "../support/storage/telling.ts";

interface Tenant {
  readonly account: AccountHandle;
  readonly id: string;
  readonly key: string;
}

async function tenant(engine: MessagingEngine): Promise<Tenant> {
  const { account, key } = await engine.accounts.create({ name: "test" });
  return { account: engine.account(account.id), id: key.id, key: key.secret };
}

const ask = async (engine: MessagingEngine, key: string): Promise<number> =>
  (await call(engine.api, { path: "/v1/account", key })).status;

const make = (
  engine: MessagingEngine,
  key: string,
  body: object,
  headers: readonly string[] = [],
): ReturnType<typeof call> =>
  call(engine.api, { method: "POST", path: "/v1/api-keys", key, body, headers });

/** A storage that counts look-ups by collection and sends no notifications. */
function counted(storage: StoragePort): {
  readonly storage: StoragePort;
  readonly count: (name: string) => number;
} {
  const counts = new Map<string, number>();
  const reader = over(storage.reader, {
    get(lookups) {
      for (const { index } of lookups) {
        counts.set(index.collection.name, (counts.get(index.collection.name) ?? 0) + 1);
      }
      return storage.reader.get(lookups);
    },
  });
  const watch = (): (() => void) => () => {};
  return { storage: over(storage, { reader, watch }), count: (name) => counts.get(name) ?? 0 };
}

describe.each(lightStorages)("API keys on $name", ({ open }) => {
  it.each([{}, { idempotencyKey: "k" }])(
    "that this engine revoked are rejected at once, without a notification (with %j)",
    async (options) => {
      const { engine } = world();
      const one = engine(over(open().connect(), { watch: () => () => {} }));
      const { account, id, key } = await tenant(one);
      expect(await ask(one, key)).toBe(200);
      await one.account(account.scope.account_id).apiKeys.revoke(id, options);
      expect(await ask(one, key)).toBe(401);
    },
  );

  it("that are revoked while a body arrives do nothing with it", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { conversation_id } = await one
      .account()
      .sandbox.inbound({ from: "+15005550001", body: "Hi" });
    const imports = "/v1/contacts/import";
    const lines = Array.from({ length: 64 }, (_, i) => `{"phone":"+1500555${1_000 + i}"}\n`).join(
      "",
    );
    const bodies = [
      ["/v1/api-keys", "application/json", '{"name":', '"backdoor"}'],
      [`/v1/conversations/${conversation_id}/typing`, "application/json", "{", "}"],
      [imports, "application/x-ndjson", lines, '{"phone":"+15005559999"}\n'],
      [imports, "application/x-ndjson", '{"phone":"+15005559998"}', ""],
    ] as const;
    for (const [path, type, first, rest] of bodies) {
      const { id, secret } = await one.account().apiKeys.create({ name: "stolen" });
      async function* arriving(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(first);
        await one.account().apiKeys.revoke(id);
        yield Buffer.from(rest);
      }
      const headers = ["Content-Type", type];
      const key = secret;
      const answer = await call(one.api, {
        method: "POST",
        path,
        key,
        headers,
        arriving: arriving(),
      });
      const { body } = answer;
      if (path === imports && body !== null && typeof body === "object") {
        // The response began before the key was revoked.
        const told = await text(body as AsyncIterable<string>);
        expect(told).toContain('{"error":{"type":');
        expect(told).toContain('"code":"invalid_api_key"');
      } else expect(jsonOf(answer), path).toMatchObject({ status: 401, code: "invalid_api_key" });
    }
    const keys = (await one.account().apiKeys.list()).data;
    expect(keys.map(({ name }) => name)).not.toContain("backdoor");
    for (const phone of ["+15005559999", "+15005559998"]) {
      expect((await one.account().contacts.list({ phone })).data).toEqual([]);
    }
    const before = await one.account().contacts.list({ phone: "+15005551000" });
    expect(before.data, "a row that arrived in time").toHaveLength(1);
  });

  it("that another engine revoked are rejected a second later, also if the clock was set back", async () => {
    const { clock, engine } = world();
    const ground = open();
    const deaf = over(ground.connect(), { watch: () => () => {} });
    const [one, other] = [engine(deaf), engine(ground.connect())];
    const { account, id, key } = await tenant(one);
    expect(await ask(one, key)).toBe(200);
    clock.step(-3_600_000);
    await other.account(account.scope.account_id).apiKeys.revoke(id);
    await clock.advance(1_000);
    expect(await ask(one, key)).toBe(401);
  });

  it("that another engine revoked are rejected as soon as the storage notifies", async () => {
    const { clock, engine } = world();
    const ground = open();
    const { storage, tell } = telling(ground.connect());
    const [one, other] = [engine(storage), engine(ground.connect())];
    const { account, id, key } = await tenant(one);
    expect(await ask(one, key)).toBe(200);
    await clock.settle();
    await other.account(account.scope.account_id).apiKeys.revoke(id);
    tell();
    expect(await ask(one, key)).toBe(401);
  });

  it("of concurrent requests are looked up once, and their use is recorded once", async () => {
    const { clock, engine } = world();
    const { storage, count } = counted(open().connect());
    const one = engine(storage);
    const { account, key } = await tenant(one);
    const before = count("api_keys");
    const crowd = await Promise.all(Array.from({ length: 20 }, () => ask(one, key)));
    expect(crowd).toEqual(Array.from({ length: 20 }, () => 200));
    expect(count("api_keys") - before).toBe(1);
    await clock.settle();
    expect((await account.apiKeys.list()).data[0]?.last_used_at).toBe(
      new Date(clock.now()).toISOString(),
    );
  });

  it("that are revoked are refused, though an earlier request is still looking them up", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    const gate = Promise.withResolvers<void>();
    let isHeld = false;
    const reader = over(storage.reader, {
      async get(lookups) {
        const rows = await storage.reader.get(lookups);
        if (!isHeld || lookups.every(({ index }) => index.collection.name !== "api_keys")) {
          return rows;
        }
        isHeld = false;
        await gate.promise;
        return rows;
      },
    });
    const one = engine(over(storage, { reader }));
    const { account, id, key } = await tenant(one);
    isHeld = true;
    const earlier = ask(one, key);
    await clock.settle();
    expect(isHeld).toBe(false);
    await account.apiKeys.revoke(id);
    const later = ask(one, key);
    await clock.settle();
    gate.resolve();
    expect(await later).toBe(401);
    await earlier;
  });

  it("that are mistyped are not looked up", async () => {
    const { engine } = world();
    const { storage, count } = counted(open().connect());
    const one = engine(storage);
    const { key } = await tenant(one);
    const before = count("api_keys");
    const last = key.endsWith("a") ? "b" : "a";
    expect(await ask(one, key.slice(0, -1) + last)).toBe(401);
    expect(count("api_keys") - before).toBe(0);
  });

  it("that have expired cannot be rotated, and the error says to create a new one", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { apiKeys } = one.account();
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const { id, secret } = await apiKeys.create({ name: "short", expires_at });
    await clock.advance(60_000);
    const advice = { detail: "The API key has expired. Create a new one." };
    const answer = await call(one.api, { path: "/v1/account", key: secret });
    expect(jsonOf(answer)).toMatchObject({ status: 401, code: "expired_api_key", ...advice });
    await expect(apiKeys.rotate(id)).rejects.toMatchObject({
      code: "conflict",
      detail: advice.detail,
    });
    expect((await apiKeys.list()).data).toMatchObject([{ id, last_four: secret?.slice(-4) }]);
  });

  it("refuse a secret that was replaced, after its grace period, and say so", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const { secret } = await account.apiKeys.rotate(id, { grace_seconds: 60 });
    await clock.advance(60_000);
    expect(jsonOf(await call(one.api, { path: "/v1/account", key }))).toMatchObject({
      status: 401,
      code: "expired_api_key",
      detail:
        "The API key was rotated, and the grace period of this secret is over. Use the new secret.",
    });
    expect(await ask(one, secret)).toBe(200);
  });

  it("expire at the latest in the year 9999 in UTC, so that responses can show the time", async () => {
    const { engine } = world();
    const { apiKeys } = engine(open().connect()).account();
    const last = await apiKeys.create({ name: "long", expires_at: "9999-12-31T23:59:59.999Z" });
    expect(last.expires_at).toBe("9999-12-31T23:59:59.999Z");
    const expires_at = "9999-12-31T23:59:59-00:01";
    await expect(apiKeys.create({ name: "longer", expires_at })).rejects.toMatchObject({
      code: "validation_failed",
      errors: [
        {
          pointer: "/expires_at",
          message: `must be a time in the years 1 to 9999 in UTC, got "${expires_at}"`,
        },
      ],
    });
  });

  it("cannot create a key that outlives them", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account } = await tenant(one);
    const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
    const own = at(60_000);
    const { secret } = await account.apiKeys.create({
      name: "short",
      scopes: ["keys:manage"],
      expires_at: own,
    });
    const key = secret;
    expect(jsonOf(await make(one, key, { name: "as long" }))).toMatchObject({ expires_at: own });
    expect(jsonOf(await make(one, key, { name: "as long", expires_at: own }))).toMatchObject({
      expires_at: own,
    });
    const sooner = at(30_000);
    expect(jsonOf(await make(one, key, { name: "shorter", expires_at: sooner }))).toMatchObject({
      expires_at: sooner,
    });
    for (const expires_at of [at(60_001), null]) {
      const answer = await make(one, key, { name: "longer", expires_at });
      expect([answer.status, jsonOf(answer)["errors"]]).toMatchObject([
        422,
        [{ pointer: "/expires_at" }],
      ]);
    }
    const { data } = await account.apiKeys.list();
    expect(data.filter(({ name }) => name === "longer")).toEqual([]);
  });

  it("cannot rotate a key that outlives them", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account } = await tenant(one);
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const short = await account.apiKeys.create({
      name: "short",
      scopes: ["keys:manage"],
      expires_at,
    });
    const lasting = await account.apiKeys.create({ name: "lasting", scopes: ["keys:manage"] });
    const rotate = async (id: string): Promise<number> =>
      (
        await call(one.api, {
          method: "POST",
          path: `/v1/api-keys/${id}/rotate`,
          key: short.secret,
          body: {},
        })
      ).status;
    expect(await rotate(lasting.id)).toBe(403);
    expect(await rotate(short.id)).toBe(200);
  });

  it("cannot be prolonged by a secret that was replaced", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const rotate = async (secret: string): Promise<number> =>
      (
        await call(one.api, {
          method: "POST",
          path: `/v1/api-keys/${id}/rotate`,
          key: secret,
          body: { grace_seconds: 0 },
        })
      ).status;
    const { secret, previous_expires_at } = await account.apiKeys.rotate(id, { grace_seconds: 60 });
    expect(await rotate(key)).toBe(403);
    const longer = await make(one, key, { name: "longer", expires_at: null });
    expect(jsonOf(longer)).toMatchObject({ status: 422, errors: [{ pointer: "/expires_at" }] });
    expect(jsonOf(await make(one, key, { name: "as long" }))).toMatchObject({
      expires_at: previous_expires_at,
    });
    await clock.advance(59_999);
    expect([await ask(one, key), await ask(one, secret)]).toEqual([200, 200]);
    expect(await rotate(secret)).toBe(200);
  });

  it("cannot be prolonged by a replaced secret that ends before the key", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account } = await tenant(one);
    const { id, secret } = await account.apiKeys.create({
      name: "short",
      scopes: ["keys:manage"],
      expires_at: new Date(clock.now() + 120_000).toISOString(),
    });
    const { previous_expires_at } = await account.apiKeys.rotate(id, { grace_seconds: 60 });
    expect(jsonOf(await make(one, secret, { name: "as long" }))).toMatchObject({
      expires_at: previous_expires_at,
    });
  });

  it("cannot be prolonged by a secret that is replaced while a body arrives", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const finish = async (
      path: string,
      [first, rest]: readonly [string, string],
      secret: string,
    ) => {
      let current = "";
      async function* arriving(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(first);
        current = (await account.apiKeys.rotate(id, { grace_seconds: 60 })).secret;
        yield Buffer.from(rest);
      }
      const headers = ["Content-Type", "application/json"];
      const answer = await call(one.api, {
        method: "POST",
        path,
        key: secret,
        headers,
        arriving: arriving(),
      });
      return { status: answer.status, current };
    };
    const created = await finish("/v1/api-keys", ['{"name":"longer",', '"expires_at":null}'], key);
    expect(created.status).toBe(422);
    const rotated = await finish(`/v1/api-keys/${id}/rotate`, ["{", "}"], created.current);
    expect(rotated.status).toBe(403);
    expect(await ask(one, rotated.current)).toBe(200);
  });

  it("can only rotate or revoke keys whose scopes they have", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const scopes = ["keys:manage", "messages:read"] as const;
    const narrow = await account.apiKeys.create({ name: "narrow", scopes: [...scopes] });
    const status = async (method: string, path: string): Promise<number> =>
      (await call(one.api, { method, path, key: narrow.secret })).status;
    expect(await status("DELETE", `/v1/api-keys/${id}`)).toBe(403);
    expect(await status("POST", `/v1/api-keys/${id}/rotate`)).toBe(403);
    expect(await ask(one, key)).toBe(200);
    const peer = await account.apiKeys.create({ name: "peer", scopes: [...scopes] });
    expect(await status("DELETE", `/v1/api-keys/${peer.id}`)).toBe(204);
    expect(await ask(one, peer.secret)).toBe(401);
    expect(await status("DELETE", `/v1/api-keys/${narrow.id}`)).toBe(204);
  });

  it("without the scope do not use up the idempotency key", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { account, key } = await tenant(one);
    const narrow = await account.apiKeys.create({ name: "narrow", scopes: ["keys:manage"] });
    const body = { name: "reader", scopes: ["messages:read"] };
    const header = ["Idempotency-Key", "k"];
    expect((await make(one, narrow.secret, body, header)).status).toBe(403);
    expect((await make(one, key, body, header)).status).toBe(201);
  });
});

describe("one storage object for two engines", () => {
  it.each(storages)("on $name stays open until the last of them has stopped", async ({ open }) => {
    const { engine } = world();
    const storage = open().connect();
    const [one, two, idle] = [engine(storage), engine(storage), engine(storage)];
    const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
    expect((await two.messages.get(id)).id).toBe(id);
    await idle.stop();
    await one.stop();
    expect((await two.messages.get(id)).id).toBe(id);
    await two.messages.send({ to: "+15005550001", body: "Hello" });
    await two.stop();
  });
});

it("a key with an unknown scope is refused, with the scope that was probably meant", async () => {
  const engine = world().engine(memory());
  const scopes = ["message:read" as KeyScope];
  await expect(engine.apiKeys.create({ name: "reader", scopes })).rejects.toMatchObject({
    code: "validation_failed",
    errors: [
      {
        pointer: "/scopes/0",
        message: expect.stringMatching(
          /^must be "messages:read", .*, got "message:read"\. Did you mean "messages:read"\?$/,
        ),
      },
    ],
  });
});
