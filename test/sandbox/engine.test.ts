import { describe, expect, it } from "vitest";
import { z } from "zod";
import { rules } from "../../adapters/models/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { SendMessage } from "../../src/messages/index.ts";
import { schema } from "../../src/modules.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { actionOf } from "../agents/actions.ts";
import { agency, visitor } from "../agents/world.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { isLong } from "../support/runs.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

/** All rows. */
async function dump(storage: StoragePort, collections = schema.collections): Promise<string> {
  const tables = collections.map(({ primary: index }) =>
    storage.reader.range({ index, prefix: [], order: "ascending", limit: 100_000 }),
  );
  return JSON.stringify(await Promise.all(tables));
}

describe.each(storages)("the sandbox on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  it("is seeded with conversations, and seeding it twice adds nothing", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const made = await one.sandbox.seed();
    expect(made.messages).toBeGreaterThan(0);
    const { data } = await one.messages.list({ limit: 100 });
    expect(data).toHaveLength(made.messages);
    expect(new Set(data.map(({ contact_id }) => contact_id)).size).toBe(made.contacts);
    expect(new Set(data.map(({ conversation_id }) => conversation_id)).size).toBe(
      made.conversations,
    );
    expect(await one.sandbox.seed()).toEqual({ contacts: 0, conversations: 0, messages: 0 });
    expect((await one.messages.list({ limit: 100 })).data).toEqual(data);
    for (const { created_at } of data) {
      const earlier = await one.messages.list({ created_before: created_at, limit: 100 });
      expect(earlier.data).toEqual(data.filter((each) => each.created_at < created_at));
    }
  });

  it.runIf(isTried)(
    "is seeded with an assistant, and with no other when that has a new name",
    async () => {
      const { engine } = world();
      const agents = { model: rules() };
      const one = engine(open().connect(), { agents });
      await one.sandbox.seed();
      const [assistant, ...others] = (await one.agents.list()).data;
      expect(others).toEqual([]);
      await one.agents.update(assistant?.id ?? "", { name: "Ada" });
      await one.sandbox.seed();
      expect((await one.agents.list()).data).toMatchObject([{ id: assistant?.id, name: "Ada" }]);
      expect((await one.playbooks.list()).data).toHaveLength(3);
    },
  );

  it.runIf(isTried)("lists seeded messages by the address that they went to", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    await one.sandbox.seed();
    const { data } = await one.messages.list({ direction: "outbound", limit: 100 });
    const addresses = new Set(data.map(({ to }) => to));
    expect(addresses.size).toBeGreaterThan(1);
    for (const to of addresses) {
      const sent = await one.messages.list({ direction: "outbound", to, limit: 100 });
      expect(sent.data, to).toEqual(data.filter((each) => each.to === to));
    }
  });

  it.runIf(isTried)(
    "is emptied by a reset, except keys and senders, only in this account, and works afterwards",
    async () => {
      const { clock, started } = world();
      const line = carrier();
      const one = await started(open().connect(), { transports: [line] });
      const { account } = await one.accounts.create({ name: "neighbour" });
      const neighbour = one.account(account.id);
      const { id: kept } = await neighbour.messages.send(hello);
      await one.sandbox.seed();
      const key = await one.apiKeys.create({ name: "stays" });
      await one.messages.batch({
        messages: Array.from({ length: 250 }, (_, n) => ({
          to: `+1500555${1_000 + n}`,
          body: "Hi",
        })),
      });
      const later = await one.messages.send(
        { ...hello, send_at: new Date(clock.now() + 60_000).toISOString() },
        { idempotencyKey: "k" },
      );
      await clock.settle();
      const { removed } = await one.sandbox.reset();
      expect(removed).toBeGreaterThan(500);
      expect((await one.messages.list()).data).toEqual([]);
      expect((await one.events.list()).data).toEqual([]);
      await expect(one.messages.get(later.id)).rejects.toMatchObject({ code: "not_found" });
      expect((await one.apiKeys.list()).data.map(({ id }) => id)).toEqual([key.id]);
      expect((await one.senders.list()).data).toHaveLength(2);
      expect((await neighbour.messages.get(kept)).status).toBe("sent");

      line.calls.splice(0);
      // Longer than all retries of earlier messages.
      await clock.advance(900_000);
      expect(line.calls).toEqual([]);
      const again = await one.messages.send(hello, { idempotencyKey: "k" });
      await clock.settle();
      expect((await one.messages.get(again.id)).status).toBe("sent");
      expect((await one.sandbox.seed()).messages).toBeGreaterThan(0);
    },
  );
});

describe.each(lightStorages)("the sandbox on $name", ({ open }) => {
  it("loses the idempotency keys of deleted resources on a reset, and keeps the others", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const idempotencyKey = (key: string) => ({ idempotencyKey: key });
    const first = await one.webchat.open({}, idempotencyKey("session"));
    const sender = { channels: ["sms" as const], address: "+15005550109", transport: "sandbox" };
    const kept = await one.senders.create(sender, idempotencyKey("sender"));
    const apiKey = await one.apiKeys.create({ name: "Laptop" }, idempotencyKey("laptop"));
    const seeded = await one.sandbox.seed(idempotencyKey("seed"));
    const ada = { name: "Ada", phone: "+15005550120" };
    const person = await one.contacts.create(ada);
    const twice = () => one.contacts.create(ada, idempotencyKey("contact"));
    await expect(twice()).rejects.toMatchObject({ conflictingId: person.id });
    await one.sandbox.reset();
    const second = await one.webchat.open({}, idempotencyKey("session"));
    expect(second.id).not.toBe(first.id);
    expect(second.token).not.toBeNull();
    expect((await one.contacts.get(second.contact_id)).id).toBe(second.contact_id);
    expect(await one.senders.create(sender, idempotencyKey("sender"))).toEqual(kept);
    expect((await one.apiKeys.create({ name: "Laptop" }, idempotencyKey("laptop"))).id).toBe(
      apiKey.id,
    );
    expect(await one.sandbox.seed(idempotencyKey("seed"))).toEqual(seeded);
    const { data } = await one.messages.list({ limit: 100 });
    expect(data, "seeded again").toHaveLength(seeded.messages);
    expect((await twice()).id, "a stored error is forgotten").not.toBe(person.id);
    // A key may serve another request now.
    await one.sandbox.reset();
    await one.contacts.create(ada, idempotencyKey("seed"));
  });

  it("can be reset during a carrier call, whose answer is ignored", async () => {
    const { clock, started, log } = world();
    const answer = held<void>();
    const line = carrier({ send: (_, attempt) => answer.promise.then(() => accepted(attempt)) });
    const one = await started(open().connect(), { transports: [line] });
    await one.messages.send(hello);
    await clock.settle();
    await one.sandbox.reset();
    answer.answer();
    await clock.settle();
    const { id } = await one.messages.send(hello);
    await clock.advance(60_000);
    expect((await one.messages.get(id)).status).toBe("sent");
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("previews a message without storing anything, with the result of a send", async () => {
    const { engine } = world();
    const storage = open().connect();
    const one = engine(storage);
    await one.messages.list();
    const before = await dump(storage);
    const previews = await Promise.all([
      one.messages.preview(hello),
      one.messages.preview({ ...hello, body: "ü".repeat(161) }),
      one.messages.preview({ ...hello, body: "日本" }),
      one.messages.preview({ ...hello, from: "+15551230000" }),
      one.messages.preview({ ...hello, body: "", media: [{ url: "https://example.com/a.png" }] }),
    ]);
    expect(await dump(storage)).toBe(before);
    expect(previews).toMatchObject([
      {
        channel: "sms",
        from: "+15005559999",
        segments: { count: 1, encoding: "GSM-7" },
        sendable: true,
      },
      { segments: { count: 2, encoding: "GSM-7" } },
      { segments: { count: 1, encoding: "UCS-2" } },
      { from: null, sendable: false },
      { channel: "mms", segments: null, sendable: true },
    ]);
    const sent = await one.messages.send(hello);
    expect(sent).toMatchObject({ from: previews[0]?.from, segments: previews[0]?.segments });
  });

  it("accepts a batch with invalid messages: each has its own result, in order", async () => {
    const { clock, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    const { data } = await one.messages.batch({
      messages: [
        hello,
        { to: "nobody", body: 7, colour: "red" },
        { ...hello, from: "+15551230000" },
        "not a message",
        null,
        { ...hello, body: "last" },
      ] as SendMessage[],
    });
    expect(data.map(({ ok, index }) => [ok, index])).toEqual([
      [true, 0],
      [false, 1],
      [false, 2],
      [false, 3],
      [false, 4],
      [true, 5],
    ]);
    const [, shapes, sender, text, nothing] = data.map((each) => (each.ok ? undefined : each));
    expect(shapes).toMatchObject({ code: "validation_failed", status: 422 });
    const pointers = shapes?.errors.map(({ pointer }) => pointer);
    expect(new Set(pointers)).toEqual(new Set(["/body", "/colour", "/to"]));
    expect([sender?.code, text?.code, nothing?.code]).toEqual([
      "no_sender",
      "validation_failed",
      "validation_failed",
    ]);
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(["Hello", "last"]);
    await expect(one.messages.batch({ messages: [] })).rejects.toMatchObject({
      code: "validation_failed",
    });
    const tooMany = Array.from({ length: 1_001 }, () => hello);
    await expect(one.messages.batch({ messages: tooMany })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  it("lists its test numbers with their behavior", async () => {
    const { engine } = world();
    const one = engine(open().connect(), {
      transports: [
        { ...carrier(), test_numbers: [{ number: "+15005550001", behavior: "delivered" }] },
      ],
    });
    expect(await one.sandbox.numbers()).toEqual({
      data: [{ number: "+15005550001", behavior: "delivered" }],
    });
    const { account } = await one.accounts.create({ name: "test" });
    const live = one.account(account.id, { mode: "live" });
    await expect(live.sandbox.numbers()).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("agents and playbooks of a sandbox", () => {
  const steps = [{ id: "hello", type: "send" as const, text: "Hello." }];
  const names = ["agents", "agent_versions", "agent_sessions", "runs", "playbooks"];
  const cleared = new Set([
    ...names,
    "agent_triggers",
    "playbook_versions",
    "observations",
    "messages",
    "events",
  ]);
  const rowsLeft = (storage: StoragePort): Promise<string> =>
    dump(
      storage,
      schema.collections.filter(({ name }) => cleared.has(name)),
    );
  const nothing = JSON.stringify(Array.from(cleared, () => []));

  it("are removed by a reset with all versions and idempotency keys", async () => {
    const storage = memory();
    const { engine, agent } = await agency(storage);
    const key = { idempotencyKey: "greeting" };
    const { id } = await engine.playbooks.create({ name: "Greet", steps }, key);
    await engine.playbooks.update(id, { description: "Says hello." });
    await engine.agents.update(agent.id, { name: "Bea", playbook_ids: [id] });
    await engine.playbooks.update(id, { enabled: true });
    const { id: contact_id } = await engine.contacts.create({ phone: visitor });
    await engine.agents.trigger(agent.id, { contact_id, playbook_id: id });
    await engine.sandbox.reset();
    expect(await rowsLeft(storage)).toBe(nothing);
    expect((await engine.agents.list()).data).toEqual([]);
    const again = await engine.playbooks.create({ name: "Greet", steps }, key);
    expect(again.id).not.toBe(id);
    expect(await engine.playbooks.get(again.id)).toEqual(again);
  });

  it.each(["the model thinks", "an action runs"])("are removed while %s", async (moment) => {
    const storage = memory();
    const held = Promise.withResolvers<void>();
    const isActing = moment === "an action runs";
    const slow = actionOf({
      name: "book",
      input: z.object({}),
      risk: "write",
      idempotent: false,
      execute: () => held.promise.then(() => "done"),
    });
    const {
      engine,
      agent,
      say,
      pass,
      world: there,
      line,
    } = await agency(storage, {
      actions: [slow],
      model: async () => {
        if (!isActing) await held.promise;
        const observations = [{ content: "likes tea", kind: "taste" }];
        const calls = isActing ? { calls: [{ action: "book", input: {} }] } : {};
        return { text: "Done.", observations, ...calls };
      },
    });
    await say("Book me in.");
    await pass(2_000);
    expect((await engine.agents.runs(agent.id)).data).toMatchObject([{ status: "running" }]);
    await engine.sandbox.reset();
    held.resolve();
    await pass(600_000);
    expect(await rowsLeft(storage)).toBe(nothing);
    expect(line.calls).toEqual([]);
    expect(there.log.filter(({ level }) => level === "error")).toEqual([]);
    const next = await engine.agents.create({ name: "Ada", channels: ["sms"] });
    await say("Hello?");
    await pass();
    expect((await engine.agents.runs(next.id)).data).toMatchObject([{ status: "completed" }]);
  });
});
