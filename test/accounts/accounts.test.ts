import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { keyScopes, type KeyScope } from "../../src/operations/caller.ts";
import { call, jsonOf } from "../api/call.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { errorOf } from "../support/outcome.ts";
import { isLong, runsOn } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };
const bothModes = () =>
  carrier({ modes: ["sandbox", "live"], channels: ["sms", "mms", "webchat"] });

async function other(engine: MessagingEngine): Promise<AccountHandle> {
  const { account } = await engine.accounts.create({ name: "other" });
  return engine.account(account.id);
}

/** What does not depend on the storage. See `lightStorages`. */
const isTriedOn = (storage: string): boolean => isLong || storage === "SQLite";

describe.each(storages)("accounts on $name", ({ name, open }) => {
  it("are isolated from each other, and live from sandbox: foreign ids are answered like unknown ones", async () => {
    const { clock, started } = world();
    const one = await started(open().connect(), { transports: [bothModes()] });
    const mine = one.account();
    const { id: messageId, contact_id, conversation_id } = await mine.messages.send(hello);
    const { id: keyId } = await mine.apiKeys.create({ name: "mine" });
    const { id: senderId } = await mine.senders.create({
      address: "+15551230000",
      channels: ["sms"],
      transport: "sandbox",
    });
    await clock.settle();
    const {
      data: [event],
    } = await mine.events.list();
    const live = one.account(undefined, { mode: "live" });
    await live.senders.create({ address: "+15551230009", channels: ["sms"], transport: "sandbox" });
    const stranger = await other(one);
    const nobody = "00000000000000000000000000";
    const asks: readonly [
      id: string,
      unknown: string,
      ask: (handle: AccountHandle, id: string) => Promise<unknown>,
    ][] = [
      [messageId, `msg_${nobody}`, ({ messages }, id) => messages.get(id)],
      [messageId, `msg_${nobody}`, ({ messages }, id) => messages.timeline(id)],
      [messageId, `msg_${nobody}`, ({ messages }, id) => messages.cancel(id)],
      [messageId, `msg_${nobody}`, ({ messages }, id) => messages.redact(id)],
      [messageId, `msg_${nobody}`, ({ messages }, id) => messages.edit(id, { body: "taken over" })],
      [keyId, `key_${nobody}`, ({ apiKeys }, id) => apiKeys.rotate(id)],
      [keyId, `key_${nobody}`, ({ apiKeys }, id) => apiKeys.revoke(id)],
      [senderId, `snd_${nobody}`, ({ senders }, id) => senders.update(id, { default: true })],
      [senderId, `snd_${nobody}`, ({ senders }, id) => senders.remove(id)],
      [event?.id ?? "", `evt_${nobody}`, ({ events }, id) => events.get(id)],
      [contact_id, `ct_${nobody}`, ({ messages }, id) => messages.send({ ...hello, to: id })],
      [contact_id, `ct_${nobody}`, ({ messages }, id) => messages.preview({ ...hello, to: id })],
    ];
    for (const [id, unknown, ask] of asks) {
      for (const handle of [stranger, live]) {
        const refusal = await errorOf(ask(handle, id));
        expect(refusal, String(ask)).toMatchObject({
          code: expect.stringMatching(/^(not_found|validation_failed)$/) as string,
        });
        expect(refusal).toEqual(await errorOf(ask(handle, unknown)));
      }
    }
    const receipt = errorOf(stranger.sandbox.receipts(messageId, [{ status: "read" }]));
    expect(await receipt).toMatchObject({ code: "not_found" });
    for (const handle of [stranger, live]) {
      expect((await handle.messages.list({ contact_id })).data).toEqual([]);
      expect((await handle.messages.list({ conversation_id })).data).toEqual([]);
      expect((await handle.messages.list()).data).toEqual([]);
      expect((await handle.events.list()).data).toEqual([]);
      expect((await handle.usage()).data).toEqual([]);
    }
    // Nothing has changed.
    expect((await mine.messages.get(messageId)).status).toBe("sent");
    expect((await mine.apiKeys.list()).data.map(({ revoked_at }) => revoked_at)).toEqual([null]);
  });

  it("include a default one, which host applications with one tenant need not name", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { id } = await one.messages.send(hello);
    expect((await one.account().messages.get(id)).id).toBe(id);
    expect(await one.account().get()).toMatchObject({
      name: "Default",
      plan: { requests_per_second: 100 },
    });
  });

  it.runIf(isTriedOn(name))("show the engine's limits under the names of the API", async () => {
    const one = world().engine(open().connect(), { limits: { bodyBytes: 4_000, jsonDepth: 7 } });
    const { limits } = await one.account().get();
    expect(limits).toMatchObject({ body_bytes: 4_000, json_depth: 7, batch_items: 1_000 });
    expect(Object.keys(limits).toSorted()).toEqual(
      Object.keys(defaultLimits)
        .map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
        .toSorted(),
    );
  });

  it.runIf(isTriedOn(name))("that do not exist and invalid account ids are rejected", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    expect(() => one.account("../../etc")).toThrow(
      expect.objectContaining({ code: "not_found" }) as Error,
    );
    const ghost = one.account("acct_01J00000000000000000000000");
    await expect(ghost.messages.send(hello)).rejects.toMatchObject({ code: "not_found" });
    await expect(ghost.messages.list()).rejects.toMatchObject({ code: "not_found" });
  });

  it("are created with a sandbox, and optionally with a plan and a time zone", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const plan = { name: "big", requests_per_second: 500 };
    const { account, key } = await one.accounts.create({
      name: "A",
      plan,
      time_zone: "Europe/Berlin",
    });
    expect(account).toMatchObject({ name: "A", plan, time_zone: "Europe/Berlin" });
    expect(key).toMatchObject({
      mode: "sandbox",
      scopes: [...keyScopes],
      secret: expect.stringMatching(/^tdg_test_[0-9A-Za-z]{38}$/) as string,
    });
    expect(await one.account(account.id).messages.send(hello)).toMatchObject({
      status: "queued",
      from: "+15005559999",
    });
    await expect(
      one.accounts.create({ name: "A", time_zone: "Mars/Olympus" }),
    ).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  it("are listed page by page, newest first, and the default one last", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const names = ["Default"];
    for (const name of ["a", "b", "c"]) {
      await clock.advance(1_000);
      names.unshift(name);
      await one.accounts.create({ name });
    }
    const first = await one.accounts.list({ limit: 3 });
    expect(first.data.map(({ name }) => name)).toEqual(names.slice(0, 3));
    const cursor = first.next_cursor ?? expect.fail("There are more accounts.");
    const rest = await one.accounts.list({ limit: 3, cursor });
    expect(rest).toMatchObject({ data: [{ name: "Default" }], has_more: false });
  });

  it.runIf(isTriedOn(name))("change their name, plan and time zone, each on its own", async () => {
    const { engine } = world();
    const one = engine(open().connect(), { timeZone: "Asia/Tokyo" });
    const { account } = await one.accounts.create({ name: "a", time_zone: "Europe/Berlin" });
    const { id, plan } = account;
    const plus = { name: "plus", requests_per_second: 7 };
    expect(await one.accounts.update(id, { name: "b" })).toEqual({ ...account, name: "b" });
    expect(await one.accounts.update(id, { plan: plus })).toMatchObject({ name: "b", plan: plus });
    const reset = { plan, time_zone: null };
    await one.accounts.update(id, reset);
    const handle = one.account(id, { mode: "live" });
    expect(await handle.get()).toEqual({ ...account, name: "b", time_zone: "Asia/Tokyo" });
    const wrong = one.accounts.update(id, { name: " ", time_zone: "Europe/Bärlin" });
    expect(await errorOf(wrong)).toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/name" }, { pointer: "/time_zone" }],
    });
    const nobody = one.accounts.update("acct_00000000000000000000000001", { name: "c" });
    expect(await errorOf(nobody)).toMatchObject({ code: "not_found" });
  });

  it.runIf(isTriedOn(name))("get a new limit of requests for each of their keys", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, key } = await one.accounts.create({ name: "a" });
    const secret = key.secret ?? expect.fail("It has a secret.");
    const ask = async () => (await call(one.api, { path: "/v1/account", key: secret })).status;
    expect(await ask()).toBe(200);
    await one.accounts.update(account.id, { plan: { name: "tiny", requests_per_second: 1 } });
    await clock.advance(2_000);
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });

  it.runIf(isTriedOn(name))("have no sandbox operations in live mode", async () => {
    const { engine } = world();
    const live = engine(open().connect(), { transports: [bothModes()] }).account(undefined, {
      mode: "live",
    });
    for (const work of [
      () => live.sandbox.inbound({ from: hello.to, body: "Hi" }),
      () => live.sandbox.receipts("msg_x", [{ status: "read" }]),
      () => live.sandbox.seed(),
      () => live.sandbox.reset(),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: "conflict", status: 409 });
    }
  });

  it("have keys that can create or rotate only keys with a subset of their scopes", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const plan = { name: "test", requests_per_second: 100_000 };
    const { account } = await one.accounts.create({ name: "A", plan });
    const { apiKeys } = one.account(account.id);
    const some = fc.subarray([...keyScopes], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(some, some, fc.boolean(), async (own, wanted, explicit) => {
        const caller: KeyScope[] = [...new Set<KeyScope>([...own, "keys:manage"])];
        const { secret } = await apiKeys.create({ name: "caller", scopes: caller });
        const body = { name: "made", ...(explicit ? { scopes: wanted } : {}) };
        const made = await call(one.api, {
          method: "POST",
          path: "/v1/api-keys",
          key: secret,
          body,
        });
        const allowed = !explicit || wanted.every((scope) => caller.includes(scope));
        expect(made.status, "A key may give a new key only its own scopes.").toBe(
          allowed ? 201 : 403,
        );
        if (allowed) {
          const given = jsonOf(made)["scopes"];
          expect(new Set(given as KeyScope[])).toEqual(new Set(explicit ? wanted : caller));
        }
        const target = await apiKeys.create({ name: "target", scopes: wanted });
        const path = `/v1/api-keys/${target.id}/rotate`;
        const rotated = await call(one.api, { method: "POST", path, key: secret, body: {} });
        const narrower = wanted.every((scope) => caller.includes(scope));
        expect(
          rotated.status,
          "A key may rotate only a key that has no scope beyond its own.",
        ).toBe(narrower ? 200 : 403);
        const still = await call(one.api, { path: "/v1/account", key: target.secret });
        expect(
          still.status,
          "The old secret of a key works until it is replaced, and for the grace period after.",
        ).toBe(200);
      }),
      { numRuns: runsOn(name, { memory: 40, SQLite: 15, PostgreSQL: 6 }) },
    );
  });

  it("have keys whose old secret is valid for the grace time, or until a second rotation or a revocation", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const status = async (secret: string | null): Promise<number> =>
      (await call(one.api, { path: "/v1/account", key: secret ?? "" })).status;
    const first = await one.apiKeys.create({ name: "K" });
    const second = await one.apiKeys.rotate(first.id, { grace_seconds: 60 });
    expect([second.id, await status(first.secret), await status(second.secret)]).toEqual([
      first.id,
      200,
      200,
    ]);
    await clock.advance(59_999);
    expect(await status(first.secret)).toBe(200);
    await clock.advance(1);
    expect([await status(first.secret), await status(second.secret)]).toEqual([401, 200]);
    const third = await one.apiKeys.rotate(first.id);
    const fourth = await one.apiKeys.rotate(first.id);
    expect([
      await status(second.secret),
      await status(third.secret),
      await status(fourth.secret),
    ]).toEqual([401, 200, 200]);
    const fifth = await one.apiKeys.rotate(first.id, { grace_seconds: 0 });
    expect([await status(fourth.secret), await status(fifth.secret)]).toEqual([401, 200]);
    const sixth = await one.apiKeys.rotate(first.id);
    await one.apiKeys.revoke(first.id);
    expect([await status(fifth.secret), await status(sixth.secret)]).toEqual([401, 401]);
    await expect(one.apiKeys.rotate(first.id)).rejects.toMatchObject({
      code: "conflict",
      detail: "The API key was revoked. Create a new one.",
    });
    expect((await one.apiKeys.list()).data.map(({ id }) => id)).toContain(first.id);
  });
});

describe.each(storages)("senders on $name", ({ name, open }) => {
  const sms = { channels: ["sms" as const], transport: "sandbox" };

  it("are chosen in order: the requested one, the contact's last one, the account's default", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const from = async (input: object = {}): Promise<string> =>
      (await one.messages.send({ ...hello, ...input })).from;
    expect(await from()).toBe("+15005559999");
    await one.senders.create({ ...sms, address: "+15551230001" });
    expect(await from()).toBe("+15005559999");
    expect(await from({ from: "+15551230001" })).toBe("+15551230001");
    expect(await from()).toBe("+15551230001");
    expect(await from({ to: "+15005550002" })).toBe("+15005559999");
    // A text to another of the account's numbers changes the contact's last sender.
    await one.sandbox.inbound({ from: hello.to, body: "Hi" });
    expect(await from()).toBe("+15005559999");
    const { id } = await one.senders.create({ ...sms, address: "+15551230002", default: true });
    expect(await from({ to: "+15005550003" })).toBe("+15551230002");
    await one.senders.remove(id);
    expect(await from({ to: "+15005550004" })).toBe("+15005559999");
    for (const sender of (await one.senders.list()).data) {
      await one.senders.update(sender.id, { default: sender.address === "+15551230001" });
    }
    expect(await from({ to: "+15005550005" })).toBe("+15551230001");
    const kept = (await one.senders.list()).data.find(({ address }) => address === "+15005559999");
    for (const sender of (await one.senders.list()).data) {
      if (sender.channels.includes("sms") && sender.id !== kept?.id) {
        await one.senders.remove(sender.id);
      }
    }
    await one.senders.update(kept?.id ?? "", { channels: ["mms"] });
    await expect(from({ to: "+15005550006" })).rejects.toMatchObject({
      code: "no_sender",
      status: 422,
      errors: [{ pointer: "/from", code: "no_sender" }],
    });
    await one.senders.update(kept?.id ?? "", { channels: ["sms"] });
    expect(await from({ to: "+15005550003", from: "+15005559999" })).toBe("+15005559999");
  });

  it("that lack the channel or belong to another account are not used", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const stranger = await other(one);
    await stranger.senders.create({ ...sms, address: "+15551230001" });
    await one.senders.create({ ...sms, address: "+15551230002" });
    await expect(one.messages.send({ ...hello, from: "+15551230001" })).rejects.toMatchObject({
      code: "no_sender",
    });
    const mms = { ...hello, media: [{ url: "https://example.com/a.png" }], from: "+15551230002" };
    await expect(one.messages.send(mms)).rejects.toMatchObject({ code: "no_sender" });
  });

  it("of unknown transports, or transports without the channel or mode, cannot be created", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const address = "+15551230001";
    const pointer = async (work: Promise<unknown>): Promise<unknown> =>
      work.catch((error: unknown) => (error instanceof TidingsError ? error.errors : []));
    expect(
      await pointer(one.senders.create({ ...sms, address, transport: "pigeon" })),
    ).toMatchObject([{ pointer: "/transport" }]);
    expect(
      await pointer(one.senders.create({ ...sms, address, channels: ["webchat"] })),
    ).toMatchObject([{ pointer: "/channels" }]);
    const live = one.account(undefined, { mode: "live" });
    expect(await pointer(live.senders.create({ ...sms, address }))).toMatchObject([
      { pointer: "/transport" },
    ]);
  });

  it("with a live address belong to one account, also with concurrent requests", async () => {
    const { engine } = world();
    const one = engine(open().connect(), { transports: [bothModes()] });
    const handles = await Promise.all(
      Array.from({ length: 8 }, async () =>
        one.account((await other(one)).scope.account_id, { mode: "live" }),
      ),
    );
    const made = await Promise.allSettled(
      handles.map(({ senders }) => senders.create({ ...sms, address: "+15551230001" })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const each of made) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "conflict" });
    }
  });

  it("can be added and removed in any order: messages always use a default that supports the channel", async () => {
    const { engine } = world();
    const one = engine(open().connect(), { transports: [bothModes()] });
    const channels = ["sms", "mms"] as const;
    const wish = fc.record({
      on: fc.subarray([...channels], { minLength: 1 }),
      standard: fc.option(fc.boolean(), { nil: undefined }),
    });
    const step = fc.oneof(
      fc.record({ kind: fc.constant("create" as const), wish, nth: fc.nat(5) }),
      fc.record({ kind: fc.constant("update" as const), wish, nth: fc.nat(5) }),
      fc.record({ kind: fc.constant("remove" as const), wish, nth: fc.nat(5) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10, size: "max" }), async (steps) => {
        const handle = await other(one);
        let n = 0;
        for (const {
          kind,
          nth,
          wish: { on, standard },
        } of steps) {
          // The webchat inbox uses the engine's own transport, which has no other channel.
          const data = (await handle.senders.list()).data.filter(
            ({ transport }) => transport === "sandbox",
          );
          const target = data[nth % data.length];
          const flag = standard === undefined ? {} : { default: standard };
          if (kind === "create") {
            await handle.senders.create({
              address: `+1555123000${n++}`,
              channels: on,
              transport: "sandbox",
              ...flag,
            });
          } else if (target === undefined) {
            continue;
          } else if (kind === "update") {
            const updated = await handle.senders.update(target.id, { channels: on, ...flag });
            expect(updated.channels).toEqual(on);
          } else {
            await handle.senders.remove(target.id);
          }
        }
        const { data: left } = await handle.senders.list();
        for (const channel of channels) {
          const { from } = await handle.messages.preview({ to: hello.to, body: "Hi", channel });
          const flagged = left.filter(
            (sender) => sender.default && sender.channels.includes(channel),
          );
          if (from !== null) {
            expect(
              flagged.map(({ address }) => address),
              `A message goes out from a default sender of its channel, ${channel}.`,
            ).toContain(from);
          }
          const sole = left.filter((sender) => sender.channels.includes(channel));
          if (sole.length === 0) {
            expect(from, `Without a sender of the channel ${channel}, none is chosen.`).toBeNull();
          }
        }
      }),
      { numRuns: runsOn(name, { memory: 60, SQLite: 20, PostgreSQL: 8 }) },
    );
  });
});
