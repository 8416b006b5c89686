import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { english } from "../../adapters/language/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { simulated, type VirtualClock } from "../../adapters/testing/index.ts";
import { MessagingEngine } from "../../src/engine.ts";
import { silent } from "../../src/ports/logger.ts";
import type { Policy } from "../../src/ports/policy.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { anyEventSchema } from "../../src/webhooks/event-catalog.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { everyEvent } from "../support/pages.ts";
import { cases, runs } from "../support/runs.ts";
import { mortal } from "../support/storage/groups.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { receivers } from "../webhooks/receivers.ts";

const phone = "+4915112345678";
const second = "+4915187654321";
/** Words that only the erased contact's data contains. */
const words = [
  phone,
  second,
  "zebulon",
  "zeb@example",
  "octopus",
  "tangerine",
  "meeting",
  "vip",
  "pepper",
  "salt",
];

const gossip: Policy = {
  name: "gossip",
  evaluate: ({ message: { body } }) =>
    body === "pay"
      ? { verdict: "deny", code: "broke", message: "Zebulon owes us." }
      : { verdict: "allow" },
};

const key = (name: string): { idempotencyKey: string } => ({
  idempotencyKey: `key of ${name}`.replaceAll(" ", "-"),
});

/** Stores every kind of data about two people, each change with an idempotency key. */
async function fillAccount(
  engine: MessagingEngine,
  clock: VirtualClock,
): Promise<{ id: string; other: string }> {
  const { contacts, messages, conversations, sandbox } = engine;
  const facts = {
    phone,
    name: "Zebulon",
    email: "zeb@example.org",
    labels: ["vip"],
    attributes: { pet: "octopus" },
  };
  const { id } = await contacts.create(facts, key("create"));
  await contacts.update(id, { language: "de" }, key("update"));
  const { id: other } = await contacts.create(
    { phone: second, name: "Zebulon the second" },
    key("other"),
  );
  const inbound = { from: phone, body: "octopus inbound", provider_message_id: `p ${phone}` };
  const { id: message, conversation_id: thread } = await sandbox.inbound(inbound, key("in"));
  await sandbox.inbound({ from: second, body: "octopus again" }, key("in-2"));
  const { id: sent } = await messages.send(
    { to: phone, body: "tangerine", metadata: { topic: "salt" } },
    key("out"),
  );
  await messages.batch({ messages: [{ to: id, body: "tangerine batch" }] }, key("batch"));
  const send_at = new Date(clock.now() + 3_600_000).toISOString();
  const later = await messages.send({ to: second, body: "tangerine later", send_at }, key("later"));
  await messages.edit(later.id, { body: "tangerine even later" }, key("edit"));
  await conversations.addNote(thread, { body: "meeting noted" }, key("note"));
  await conversations.setLabels(thread, ["vip"], key("labels"));
  await conversations.update(thread, { metadata: { salt: "salt" } }, key("metadata"));
  await conversations.handOff(thread, { reason: "pepper", summary: "salt" }, key("handoff"));
  const noticed = { content: "likes tangerine", kind: "pepper", evidence_message_ids: [message] };
  await contacts.addObservation(id, noticed, key("observe"));
  await contacts.setConsent(
    id,
    "text",
    { status: "opted_in", detail: "pepper form" },
    key("consent"),
  );
  await clock.advance(1_000);
  const at = new Date(clock.now()).toISOString();
  await engine.sandbox.receipts(sent, [{ status: "delivered", at }], key("receipt"));
  return { id, other };
}

describe.each(storages)("erasure on $name", ({ open }) => {
  it("removes all data of a contact and of contacts merged into it from every table", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const one = await started(storage);
    const { id, other } = await fillAccount(one, clock);
    await one.contacts.merge(id, other, key("merge"));
    const used = await one.account().usage();
    for (const word of words) {
      expect([word, await tablesWith(storage, [word])]).not.toEqual([word, []]);
    }

    await one.contacts.erase(id, key("erase"));

    expect(await tablesWith(storage, words)).toEqual([]);
    expect(await outcome(one.contacts.get(id))).toBe("not_found");
    expect(await outcome(one.contacts.get(other))).toBe("not_found");
    expect(
      (await rowsOf(storage, jobs)).filter(({ kind }) => kind === "erase" || kind === "merge"),
    ).toEqual([]);
    expect(await one.account().usage()).toEqual(used);
  });
});

describe.each(lightStorages)("erasure on $name", ({ open }) => {
  it("keeps the events in order, without personal data", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { id } = await fillAccount(one, clock);
    const before = await everyEvent(one);
    await one.contacts.erase(id);
    const after = await everyEvent(one);
    expect(after.slice(0, before.length).map(({ id: event, type }) => [event, type])).toEqual(
      before.map(({ id: event, type }) => [event, type]),
    );
    for (const event of after) expect(anyEventSchema.safeParse(event).error).toBeUndefined();
    // The other contact is unchanged.
    expect(JSON.stringify(after)).toContain(second);
    expect(JSON.stringify(after)).not.toContain(phone);
  });

  it("answers 410 to a replay that showed the contact, and replays the erasure itself", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { id, other } = await fillAccount(one, clock);
    await one.contacts.merge(id, other, key("merge"));
    await one.contacts.erase(id, key("erase"));
    const { contacts, messages } = one;
    const facts = {
      phone,
      name: "Zebulon",
      email: "zeb@example.org",
      labels: ["vip"],
      attributes: { pet: "octopus" },
    };
    expect(await outcome(contacts.create(facts, key("create")))).toBe("erased");
    expect(await outcome(contacts.update(id, { language: "de" }, key("update")))).toBe("erased");
    expect(await outcome(contacts.merge(id, other, key("merge")))).toBe("erased");
    expect(
      await outcome(
        messages.send({ to: phone, body: "tangerine", metadata: { topic: "salt" } }, key("out")),
      ),
    ).toBe("erased");
    expect(await outcome(contacts.erase(id, key("erase")))).toBe("done");
    expect(await outcome(contacts.erase(id))).toBe("not_found");
  });

  it("ignores an inbound message that its carrier repeats", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const line = carrier();
    const one = await started(storage, { transports: [line] });
    const { id } = await fillAccount(one, clock);
    await one.contacts.erase(id);
    const again = { from: phone, body: "octopus inbound", provider_message_id: `p ${phone}` };
    expect(await outcome(one.sandbox.inbound(again))).toBe("erased");
    expect(await tablesWith(storage, [phone, "octopus inbound"])).toEqual([]);
  });

  it("cancels queued and scheduled messages; a later message from the number makes a new contact", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    const line = carrier();
    const one = engine(storage, { transports: [line] });
    const { id } = await one.contacts.create({ phone });
    await Promise.all(
      Array.from({ length: 120 }, (_, i) => one.messages.send({ to: id, body: `queued ${i}` })),
    );
    const send_at = new Date(clock.now() + 60_000).toISOString();
    await one.messages.send({ to: phone, body: "in a minute", send_at });
    await one.contacts.erase(id);
    await one.start();
    await clock.advance(120_000);
    expect(line.calls).toEqual([]);
    expect(await tablesWith(storage, [phone, "queued ", "in a minute"])).toEqual([]);

    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "hello" });
    expect(contact_id).not.toBe(id);
    expect((await one.contacts.list()).data.map((contact) => contact.id)).toEqual([contact_id]);
  });

  it("stops all sending with its first commit, and another process finishes it after a crash", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const storage = ground.connect();
    const { storage: own, dieAfter } = mortal(storage);
    const dying = engine(own);
    const { id } = await dying.contacts.create({ phone, name: "Zebulon" });
    await Promise.all(
      Array.from({ length: 120 }, (_, i) => dying.messages.send({ to: id, body: `queued ${i}` })),
    );
    dieAfter(1);
    expect(await outcome(dying.contacts.erase(id))).toBe("storage_unavailable");
    expect(await tablesWith(storage, ["queued "])).not.toEqual([]);

    const line = carrier();
    const living = await started(ground.connect(), { transports: [line] });
    await clock.advance(120_000);
    expect(line.calls).toEqual([]);
    expect(await tablesWith(storage, [phone, "zebulon", "queued "])).toEqual([]);
    const { data: failed } = await living.events.list({ type: "message.failed" });
    expect(failed, "A message to nobody is canceled, and does not fail.").toEqual([]);
  });

  it("removes texts of carriers and policies, and data of former numbers", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const line = carrier({
      send: ({ to }) => ({
        outcome: "rejected",
        permanent: true,
        error: { code: "landline", message: `Zebulon at ${to} has no mobile phone.` },
      }),
    });
    const one = await started(storage, { transports: [line], policies: [gossip] });
    const { contacts, messages, conversations } = one;
    const { id } = await contacts.create({ phone: second });
    await contacts.setConsent(id, "text", { status: "opted_in", detail: "pepper form" });
    await contacts.update(id, { phone }, key("update"));
    const { conversation_id } = await messages.send({ to: phone, body: "hello" });
    const send_at = new Date(clock.now() + 3_600_000).toISOString();
    const later = await messages.send({ to: phone, body: "hello", send_at });
    await clock.advance(1_000);
    const refused = [
      messages.send({ to: phone, body: "pay" }, key("by number")),
      messages.send({ to: id, body: "pay" }, key("by id")),
      messages.batch({ messages: [{ to: phone, body: "pay" }] }, key("batch")),
      messages.edit(later.id, { body: "pay" }, key("edit")),
      conversations.reply(conversation_id, { body: "pay" }, key("reply")),
    ];
    await Promise.allSettled(refused);
    for (const word of ["zebulon at", "zebulon owes", second]) {
      expect([word, await tablesWith(storage, [word])]).not.toEqual([word, []]);
    }

    await contacts.erase(id);

    expect(await tablesWith(storage, ["zebulon", "pepper", phone, second])).toEqual([]);
    expect(await outcome(messages.send({ to: phone, body: "pay" }, key("by number")))).toBe(
      "erased",
    );
  });

  it("leaves what is stored about a later owner of the number if it is repeated", async () => {
    const { contacts, messages } = world().engine(open().connect(), { policies: [gossip] });
    const { id } = await contacts.create({ phone });
    await contacts.erase(id, key("erase"));
    const pay = () => outcome(messages.send({ to: phone, body: "pay" }, key("pay")));
    expect(await pay()).toBe("policy_denied");
    expect(await outcome(contacts.erase(id, key("erase")))).toBe("done");
    expect(await pay()).toBe("policy_denied");
  });

  it("keeps an opt-out of the number", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const one = await started(storage);
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "STOP" });
    await clock.advance(1_000);
    expect(await one.contacts.get(contact_id)).toMatchObject({ opted_out: true });
    await one.contacts.erase(contact_id);
    expect(await tablesWith(storage, [phone])).toEqual([]);
    const back = await one.sandbox.inbound({ from: phone, body: "hello again" });
    expect(back.contact_id).not.toBe(contact_id);
    expect(await one.contacts.get(back.contact_id)).toMatchObject({ opted_out: true });
    expect(await outcome(one.messages.send({ to: phone, body: "welcome back" }))).toBe(
      "recipient_opted_out",
    );
  });
});

// On SQLite, no call is running: a handler's open transaction blocks all other writes.
const withCalls = cases(storages, ({ name }) => name !== "PostgreSQL");

describe.each(withCalls)("erasure on $name", ({ name, open }) => {
  it("removes consumers' errors about its events, also of a running call, and keeps calling them", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    const one = engine(storage);
    const seen: string[] = [];
    const canMeet = name !== "SQLite";
    let isBroken = true;
    let release = (): void => {};
    one.consume("quoting", ["message.received"], async ({ data }) => {
      seen.push(data.body);
      if (!isBroken) return;
      if (data.body === "octopus 2" && canMeet) {
        await new Promise<void>((resolve) => (release = resolve));
      }
      throw new Error(`can't handle ${data.body}`);
    });
    await one.start();
    const { contact_id } = await one.sandbox.inbound({ from: phone, body: "octopus 1" });
    const { contact_id: other } = await one.sandbox.inbound({ from: second, body: "octopus 2" });
    await clock.advance(500);
    expect(seen.toSorted()).toEqual(["octopus 1", "octopus 2"]);
    expect(await tablesWith(storage, ["handle octopus 1"])).not.toEqual([]);
    await one.contacts.erase(other);
    release();
    await clock.advance(100);
    await one.contacts.erase(contact_id);
    expect(await tablesWith(storage, ["octopus"])).toEqual([]);
    isBroken = false;
    seen.splice(0);
    await clock.advance(60_000);
    expect(seen).toEqual(["", ""]);
  });
});

it("leaves nothing of a history that takes many transactions, whatever they remove at once", async () => {
  const few = fc.integer({ min: 1, max: 4 });
  const sizes = fc.record({ moved: few, rows: few, parts: few, deliveries: few, responses: few });
  const counts = fc.record({
    notes: fc.nat(9),
    changes: fc.nat(6),
    runs: fc.nat(6),
    edits: fc.nat(6),
    observations: fc.nat(6),
    webhooks: fc.nat(5),
  });
  // These are always tried.
  const each = { moved: 1, rows: 1, parts: 1, deliveries: 1, responses: 1 };
  const changes = { notes: 0, changes: 3, runs: 0, edits: 0, observations: 0, webhooks: 0 };
  const several = { notes: 2, changes: 3, runs: 2, edits: 2, observations: 2, webhooks: 2 };
  await fc.assert(
    fc.asyncProperty(sizes, counts, async (chunks, count) => {
      const { clock, random } = simulated();
      const storage = memory();
      const one = new MessagingEngine(
        {
          storage,
          transports: [carrier()],
          http: { client: receivers(clock).client },
          agents: { model: () => ({ text: "the octopus answers" }) },
        },
        { clock, random, logger: silent, language: english(), historyChunks: chunks },
      );
      onTestFinished(() => stopped(one, clock));
      await one.start();
      for (let n = 0; n < count.webhooks; n++) {
        await one.webhooks.create({ url: `https://hooks.example.com/${n}`, events: ["*"] });
      }
      await one.agents.create({ name: "Octavia", channels: ["sms"], instructions: "Answer." });
      const { conversation_id, contact_id } = await one.sandbox.inbound({
        from: phone,
        body: "octopus",
      });
      for (let n = 0; n < count.runs; n++) {
        await one.sandbox.inbound({ from: phone, body: `octopus ${n}` });
        await clock.advance(10_000);
      }
      for (let n = 0; n < count.notes; n++) {
        await one.conversations.addNote(conversation_id, { body: `meeting ${n}` }, key(`n${n}`));
      }
      for (let n = 0; n < count.changes; n++) {
        const metadata = { about: `meeting ${n}` };
        await one.conversations.update(conversation_id, { metadata }, key(`c${n}`));
      }
      for (let n = 0; n < count.observations; n++) {
        const noticed = { content: `likes tangerine ${n}`, kind: "taste" };
        await one.contacts.addObservation(contact_id, noticed, key(`o${n}`));
      }
      const send_at = new Date(clock.now() + 3_600_000).toISOString();
      const later = await one.messages.send({ to: phone, body: "tangerine", send_at });
      for (let n = 0; n < count.edits; n++) {
        await one.messages.edit(later.id, { body: `tangerine ${n}` }, key(`e${n}`));
      }
      await one.contacts.erase(contact_id);
      const left = await tablesWith(storage, words);
      expect(
        left,
        `an erasure that removes ${JSON.stringify(chunks)} at once of ${JSON.stringify(count)} ` +
          `left personal data in ${left.join(", ")}`,
      ).toEqual([]);
    }),
    {
      numRuns: runs(40),
      examples: [
        [each, changes],
        [each, several],
      ],
    },
  );
});
