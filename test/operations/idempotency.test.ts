import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import type { KeyOptions } from "../../src/operations/handle-methods.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { carrier, lost } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { errorOf } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { runsOn } from "../support/runs.ts";
import { failingCommits, withGroups } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { receivers } from "../webhooks/receivers.ts";

const hello = { to: "+15005550001", body: "Hello" };
const hourMs = 3_600_000;

/** All stored idempotency keys, as text. */
async function remembered(storage: StoragePort): Promise<string> {
  const rows = await rowsOf(storage, idempotency);
  return JSON.stringify(rows);
}

interface Failing {
  readonly storage: StoragePort;
  /** The number of further commits that succeed. */
  allow(commits: number): void;
  /** The number of further reads within commands that succeed. */
  allowReads(reads: number): void;
}

function failing(storage: StoragePort): Failing {
  let allowed = Infinity;
  let reads = Infinity;
  return {
    storage: withGroups(
      failingCommits(storage, () => allowed-- <= 0),
      {
        read(lookups, group) {
          if (reads-- > 0) return group.read(lookups);
          throw new TidingsError("storage_unavailable", "The disk is away.");
        },
      },
    ),
    allow: (commits) => {
      allowed = commits;
    },
    allowReads: (count) => {
      reads = count;
    },
  };
}

describe.each(lightStorages)("idempotency keys on $name", ({ name, open }) => {
  it("replay the first response even if the message has changed, and send nothing again", async () => {
    const { clock, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    const first = await one.messages.send(hello, { idempotencyKey: "k" });
    await clock.advance(60_000);
    expect(await one.messages.send(hello, { idempotencyKey: "k" })).toEqual(first);
    // Input with another member order or explicit defaults is the same input.
    expect(
      await one.messages.send({ body: hello.body, to: hello.to }, { idempotencyKey: "k" }),
    ).toEqual(first);
    await clock.settle();
    expect(line.calls).toHaveLength(1);
  });

  it("reject other input and other operations with a used key", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { id } = await one.messages.send(hello, { idempotencyKey: "k" });
    const reused = { code: "idempotency_key_reused", status: 422, retryable: false };
    await expect(
      one.messages.send({ ...hello, body: "Other" }, { idempotencyKey: "k" }),
    ).rejects.toMatchObject(reused);
    await expect(one.messages.cancel(id, { idempotencyKey: "k" })).rejects.toMatchObject(reused);
    await expect(
      one.messages.batch({ messages: [hello] }, { idempotencyKey: "k" }),
    ).rejects.toMatchObject(reused);
    await expect(one.sandbox.reset({ idempotencyKey: "k" })).rejects.toMatchObject(reused);
    expect((await one.messages.get(id)).status).toBe("queued");
  });

  it("are separate for each account and mode", async () => {
    const { engine } = world();
    const one = engine(open().connect(), { transports: [carrier({ modes: ["sandbox", "live"] })] });
    const { account } = await one.accounts.create({ name: "other" });
    const live = one.account(undefined, { mode: "live" });
    await live.senders.create({ address: "+15551230000", channels: ["sms"], transport: "sandbox" });
    const handles = [one, one.account(account.id), live];
    const ids = await Promise.all(
      handles.map(async ({ messages }) => (await messages.send(hello, { idempotencyKey: "k" })).id),
    );
    expect(new Set(ids).size).toBe(3);
    expect((await live.messages.send(hello, { idempotencyKey: "k" })).id).toBe(ids[2]);
  });

  it.each(["", " ", "with space", "ü", "x".repeat(256), "tab\t"])(
    "of an invalid format are rejected: %j",
    async (idempotencyKey) => {
      const { engine } = world();
      const one = engine(open().connect());
      await expect(one.messages.send(hello, { idempotencyKey })).rejects.toMatchObject({
        code: "validation_failed",
      });
    },
  );

  it("replay an error, even after its cause is gone, and keep none of its writes", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const from = "+15551230000";
    const send = () => errorOf(one.messages.send({ ...hello, from }, { idempotencyKey: "k" }));
    const first = await send();
    expect(first).toMatchObject({ code: "no_sender", status: 422 });
    expect((await one.events.list()).data).toEqual([]);
    expect((await one.account().usage()).data).toEqual([]);
    await one.senders.create({ address: from, channels: ["sms"], transport: "sandbox" });
    expect(await send()).toEqual(first);
    expect((await one.messages.list()).data).toEqual([]);
  });

  it("replay a conflict with the conflicting id", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const sender = { address: "+15551230000", channels: ["sms" as const], transport: "sandbox" };
    const { id } = await one.senders.create(sender);
    const again = () => errorOf(one.senders.create(sender, { idempotencyKey: "k" }));
    const first = await again();
    expect(first).toMatchObject({ code: "conflict", conflictingId: id });
    await one.senders.remove(id);
    expect(await again()).toEqual(first);
  });

  it("are not used up by invalid input or a storage failure", async () => {
    const { engine } = world();
    const { storage, allow, allowReads } = failing(open().connect());
    const one = engine(storage);
    await expect(
      one.messages.send({ ...hello, to: "nobody" }, { idempotencyKey: "k" }),
    ).rejects.toMatchObject({
      status: 422,
    });
    await one.messages.list();
    const failed = { code: "storage_unavailable", status: 503, retryable: true };
    allow(0);
    await expect(
      one.messages.send({ ...hello, body: "Other" }, { idempotencyKey: "k" }),
    ).rejects.toMatchObject(failed);
    allow(Infinity);
    // Each of the command's reads fails once. Then the command succeeds.
    let outcome: unknown;
    let reads = -1;
    do {
      allowReads(++reads);
      const other = { ...hello, body: `Other ${reads}` };
      outcome = await one.messages.send(other, { idempotencyKey: "k" }).catch((e: unknown) => e);
      if (outcome instanceof TidingsError) expect(outcome).toMatchObject(failed);
      allowReads(Infinity);
    } while (outcome instanceof TidingsError && reads < 20);
    expect(outcome).toMatchObject({ status: "queued" });
    expect(reads).toBeGreaterThan(1);
  });

  it("stay unused if the engine lacks an option that the command needs", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    const input = { url: "https://hooks.example.com/", events: ["*" as const] };
    const create = (one: MessagingEngine) => one.webhooks.create(input, { idempotencyKey: "k" });
    await expect(create(engine(storage))).rejects.toMatchObject({
      code: "not_configured",
      status: 501,
      retryable: false,
    });
    const http = { client: receivers(clock).client };
    expect(await create(engine(storage, { http }))).toMatchObject({ url: input.url });
  });

  it("expire after exactly 24 hours", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const send = async () =>
      (await one.messages.send({ ...hello, ttl_seconds: 60 }, { idempotencyKey: "k" })).id;
    const first = await send();
    await one.messages.cancel(first);
    await clock.advance(24 * hourMs - 1);
    expect(await send()).toBe(first);
    await clock.advance(1);
    expect(await send()).not.toBe(first);
  });

  it("expire after the configured time", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect(), { idempotencyHours: 1 });
    const send = async () => (await one.messages.send(hello, { idempotencyKey: "k" })).id;
    const first = await send();
    await one.messages.cancel(first);
    await clock.advance(hourMs);
    expect(await send()).not.toBe(first);
  });

  it.each([true, false])(
    "are kept past their lifetime while their message waits (an engine runs: %s)",
    async (runs) => {
      const { clock, engine } = world();
      const one = engine(open().connect());
      const send_at = new Date(clock.now() + 30 * hourMs).toISOString();
      const send = async () =>
        (await one.messages.send({ ...hello, send_at, ttl_seconds: 100 }, { idempotencyKey: "k" }))
          .id;
      const first = await send();
      await clock.advance(24 * hourMs - 300_000);
      if (runs) await one.start();
      for (const ms of [300_000, 1, 300_000, 700_000]) {
        await clock.advance(ms);
        expect(await send()).toBe(first);
      }
    },
  );

  it("never store a secret: a replay shows null", async () => {
    const { engine } = world();
    const storage = open().connect();
    const one = engine(storage);
    const account = await one.accounts.create({ name: "A" }, { idempotencyKey: "a" });
    const key = await one.apiKeys.create({ name: "K" }, { idempotencyKey: "k" });
    const rotated = await one.apiKeys.rotate(key.id, {}, { idempotencyKey: "r" });
    const secrets = [account.key.secret, key.secret, rotated.secret];
    for (const secret of secrets) expect(secret).toMatch(/^tdg_test_/);
    expect(new Set(secrets).size).toBe(3);
    const again = await one.accounts.create({ name: "A" }, { idempotencyKey: "a" });
    expect(again).toEqual({ ...account, key: { ...account.key, secret: null } });
    expect(await one.apiKeys.create({ name: "K" }, { idempotencyKey: "k" })).toEqual({
      ...key,
      secret: null,
    });
    expect(await one.apiKeys.rotate(key.id, {}, { idempotencyKey: "r" })).toEqual({
      ...rotated,
      secret: null,
    });
    const stored = await remembered(storage);
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });

  it("answer 410 for every call that showed a message that is redacted by now", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    const one = engine(storage, { transports: [carrier({ send: () => lost })] });
    const body = "my PIN is 4711";
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const keyed = (idempotencyKey: string): KeyOptions => ({ idempotencyKey });
    const sent = await one.messages.send({ ...hello, body }, keyed("send"));
    const scheduled = await one.messages.send(
      { ...hello, body: "later", send_at },
      keyed("schedule"),
    );
    const {
      data: [item],
    } = await one.messages.batch({ messages: [{ ...hello, body }] }, keyed("batch"));
    const inbound = await one.sandbox.inbound({ from: hello.to, body }, keyed("inbound"));
    const itemId = item?.ok === true ? item.message.id : "";
    const calls = [
      () => one.messages.send({ ...hello, body }, keyed("send")),
      () => one.messages.edit(scheduled.id, { body }, keyed("edit")),
      () => one.messages.cancel(scheduled.id, keyed("cancel")),
      () => one.sandbox.inbound({ from: hello.to, body }, keyed("inbound")),
      () => one.messages.cancel(sent.id, keyed("cancel-first")),
      () => one.messages.cancel(itemId, keyed("cancel-item")),
    ];
    for (const call of calls) expect((await call()).body).toBe(body);
    for (const { id } of [sent, scheduled, inbound, { id: itemId }]) {
      await one.messages.redact(id, keyed(`redact-${id}`));
    }
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: "erased", status: 410 });
    }
    const { data } = await one.messages.batch({ messages: [{ ...hello, body }] }, keyed("batch"));
    expect(data).toEqual([expect.objectContaining({ ok: false, code: "erased", status: 410 })]);
    expect(await remembered(storage)).not.toContain("4711");
    expect((await one.messages.redact(sent.id, keyed(`redact-${sent.id}`))).body).toBeNull();
  });

  it("replay a reset without another reset", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    await one.messages.send(hello);
    const first = await one.sandbox.reset({ idempotencyKey: "k" });
    const { id } = await one.messages.send(hello);
    expect(await one.sandbox.reset({ idempotencyKey: "k" })).toEqual(first);
    expect((await one.messages.get(id)).id).toBe(id);
  });

  it("let a batch continue after a crash at any commit", async () => {
    const { engine } = world();
    const { storage, allow } = failing(open().connect());
    const one = engine(storage);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 5 }),
        fc.integer({ min: 1, max: 150 }),
        async (commits, count) => {
          allow(Infinity);
          const {
            account: { id },
          } = await one.accounts.create({ name: "batch" });
          const { messages } = one.account(id);
          const items = Array.from({ length: count }, (_, n) =>
            n % 7 === 3 ? { ...hello, to: "x" } : { ...hello, body: String(n) },
          );
          const call = () => messages.batch({ messages: items }, { idempotencyKey: "b" });
          allow(commits);
          await call().catch((error: unknown) =>
            expect(error).toMatchObject({ code: "storage_unavailable" }),
          );
          allow(Infinity);
          const { data } = await call();
          expect(data.map(({ ok }) => ok)).toEqual(items.map(({ to }) => to !== "x"));
          expect(data.flatMap((each) => (each.ok ? [each.message.body] : []))).toEqual(
            items.flatMap(({ to, body }) => (to === "x" ? [] : [body])),
          );
          const made = new Set(data.flatMap((each) => (each.ok ? [each.message.id] : [])));
          const kept = await all((page) => messages.list(page));
          expect(
            new Set(kept.map((each) => each.id)),
            "The messages that exist are those that the batch returned.",
          ).toEqual(made);
          expect((await call()).data).toEqual(data);
        },
      ),
      { numRuns: runsOn(name, { memory: 15, SQLite: 6, PostgreSQL: 3 }) },
    );
  });

  it("match a model", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    interface Model {
      readonly keys: Map<
        string,
        { readonly input: string; readonly id: string; readonly at: number }
      >;
      messages: number;
    }
    type Command = fc.AsyncCommand<Model, AccountHandle>;
    const send = (key: string, body: string, times: number): Command => ({
      check: () => true,
      toString: () => `send(${key}, ${body}) ×${times}`,
      async run(model, account) {
        const before = model.keys.get(key);
        const known =
          before !== undefined && clock.now() < before.at + 24 * hourMs ? before : undefined;
        const asked = Array.from({ length: times }, () =>
          account.messages.send({ ...hello, body }, { idempotencyKey: key }),
        );
        const answers = await Promise.allSettled(asked);
        if (known !== undefined && known.input !== body) {
          for (const each of answers) {
            expect(each).toMatchObject({ reason: { code: "idempotency_key_reused" } });
          }
          return;
        }
        const ids = new Set(
          answers.map((each) =>
            each.status === "fulfilled" ? each.value.id : String(each.reason),
          ),
        );
        expect(ids.size, `All requests of one key get one message: ${[...ids].join(", ")}.`).toBe(
          1,
        );
        const [id = ""] = ids;
        if (known !== undefined) {
          expect(id, "A key that is remembered gets its message again.").toBe(known.id);
        } else {
          model.keys.set(key, { input: body, id, at: clock.now() });
          model.messages++;
          // Waiting messages keep their keys; another test covers that.
          await account.messages.cancel(id);
        }
        expect(
          (await account.messages.list({ limit: 100 })).data,
          "Each key made one message.",
        ).toHaveLength(model.messages);
      },
    });
    const advance = (hours: number): Command => ({
      check: () => true,
      toString: () => `advance(${hours} h)`,
      run: () => clock.advance(hours * hourMs),
    });
    const commands = fc.commands<Model, AccountHandle, false>(
      [
        fc
          .tuple(
            fc.constantFrom("a", "b", "c"),
            fc.constantFrom("x", "y"),
            fc.constantFrom(1, 1, 5),
          )
          .map(([key, body, times]) => send(key, body, times)),
        fc.constantFrom(1, 11, 12, 24).map(advance),
      ],
      { size: "large", maxCommands: 30 },
    );
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const {
          account: { id },
        } = await one.accounts.create({ name: "model" });
        await fc.asyncModelRun(
          () => ({ model: { keys: new Map(), messages: 0 }, real: one.account(id) }),
          list,
        );
      }),
      { numRuns: runsOn(name, { memory: 40, SQLite: 15, PostgreSQL: 5 }) },
    );
  });
});

describe.each(storages)("idempotency keys on $name", ({ open }) => {
  it("turn 200 concurrent sends into one message and one response", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => one.messages.send(hello, { idempotencyKey: "k" })),
    );
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect((await one.messages.list()).data).toHaveLength(1);
  });

  it("turn concurrent sends of several engines into one message", async () => {
    const { engine } = world();
    const ground = open();
    const engines = [1, 2, 3].map(() => engine(ground.connect()));
    const answers = await Promise.all(
      engines.flatMap((each) =>
        Array.from({ length: 20 }, () => each.messages.send(hello, { idempotencyKey: "k" })),
      ),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect((await engines[0]?.messages.list())?.data).toHaveLength(1);
  });
});
