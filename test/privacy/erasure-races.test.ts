/** Changes to a contact while it is erased. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { identities } from "../../src/contacts/rows.ts";
import { conversations } from "../../src/conversations/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { attempts, messages } from "../../src/messages/rows.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import type { Collection } from "../../src/ports/collection.ts";
import type { Policy } from "../../src/ports/policy.ts";
import type { Write } from "../../src/ports/storage.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { beforeReads, overtaken, writesTo } from "../support/storage/groups.ts";
import { tablesWith } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";

const phone = "+4915112345678";
const keyed = { idempotencyKey: "k" };

const gossip: Policy = {
  name: "gossip",
  evaluate: ({ message: { body } }) =>
    body === "pay"
      ? { verdict: "deny", code: "broke", message: "Zebulon owes us." }
      : { verdict: "allow" },
};

interface Old {
  readonly contact: string;
  readonly thread: string;
  readonly message: string;
  /** A message that is redacted. */
  readonly redacted: string;
  readonly scheduled: string;
}

/** Each leaves the word "zebulon" if the erasure does not find it. */
const acts: Readonly<Record<string, (engine: MessagingEngine, old: Old) => Promise<unknown>>> = {
  "a send that a policy refuses": ({ messages }) =>
    messages.send({ to: phone, body: "pay" }, keyed),
  "a send": ({ messages }) => messages.send({ to: phone, body: "zebulon" }, keyed),
  "a send to its id": ({ messages }, { contact }) =>
    messages.send({ to: contact, body: "zebulon" }, keyed),
  "a reply": ({ conversations }, { thread }) =>
    conversations.reply(thread, { body: "zebulon" }, keyed),
  "an open conversation": ({ conversations }, { contact }) =>
    conversations.open({ to: contact }, keyed),
  "a note": ({ conversations }, { thread }) =>
    conversations.addNote(thread, { body: "zebulon" }, keyed),
  "a label": ({ conversations }, { thread }) =>
    conversations.update(thread, { metadata: { of: "zebulon" } }, keyed),
  "an observation": ({ contacts }, { contact }) =>
    contacts.addObservation(contact, { content: "zebulon", kind: "fact" }, keyed),
  "a change of its consent": ({ contacts }, { contact }) =>
    contacts.setConsent(contact, "text", { status: "opted_in", detail: "zebulon" }, keyed),
  "a change of its number": ({ contacts }, { contact }) =>
    contacts.update(contact, { phone: "+4915187654321", name: "Zebulon" }, keyed),
  "an update that changes nothing": ({ contacts }, { contact }) =>
    contacts.update(contact, { name: "Zebulon" }, keyed),
  "a visitor's session": ({ webchat }, { contact }) => webchat.open({ contact_id: contact }, keyed),
  "a message of the contact": ({ sandbox }) =>
    sandbox.inbound({ from: phone, body: "zebulon" }, keyed),
};

const options = { transports: [carrier()], policies: [gossip] };
/** An agent can be enabled only if the engine has a model. */
const thinking = { agents: { model: () => ({}) } };

async function known() {
  const storage = memory();
  const { clock, engine, started } = world();
  const other = await started(storage, options);
  const { id: contact } = await other.contacts.create({ phone, name: "Zebulon" });
  const { conversation_id: thread, id: message } = await other.sandbox.inbound({
    from: phone,
    body: "I am zebulon",
  });
  await other.conversations.update(thread, { metadata: { of: "zebulon" } });
  await clock.advance(1_000);
  const { id: redacted } = await other.sandbox.inbound({ from: phone, body: "Forget this" });
  await other.messages.redact(redacted);
  const { id: scheduled } = await other.messages.send({
    to: phone,
    body: "Later",
    send_at: new Date(clock.now() + 3_600_000).toISOString(),
  });
  const old: Old = { contact, thread, message, redacted, scheduled };
  return { storage, clock, engine, other, old };
}

async function erasing(
  collection: Collection,
  act: (engine: MessagingEngine, old: Old) => Promise<unknown>,
) {
  const { storage, clock, engine, other, old } = await known();
  const { contact } = old;
  let acted: PromiseSettledResult<unknown> | undefined;
  const one = engine(
    overtaken(storage, writesTo(collection, "remove"), async () => {
      [acted] = await Promise.allSettled([act(other, old)]);
    }),
    options,
  );
  await one.contacts.erase(contact);
  // Run the jobs that were armed meanwhile.
  await clock.advance(120_000);
  return { storage, engine: other, contact, acted };
}

describe("a contact that is erased", () => {
  it.each(Object.entries(acts))("leaves nothing of %s just before", async (name, act) => {
    const { storage, engine, acted } = await erasing(identities, act);
    const isRefused = name === "a send that a policy refuses";
    expect(acted).toMatchObject(
      isRefused ? { reason: { code: "policy_denied" } } : { status: "fulfilled" },
    );
    expect((await engine.contacts.list({})).data).toEqual([]);
    expect(await tablesWith(storage, ["zebulon", phone, "+4915187654321"])).toEqual([]);
  });

  const { "a send that a policy refuses": _asksThePolicyAgain, ...others } = acts;
  it.each(Object.entries(others))("leaves nothing of %s just after", async (_, act) => {
    const { storage, engine, other, old } = await known();
    const erase = () => other.contacts.erase(old.contact);
    const one = engine(overtaken(storage, writesTo(idempotency), erase), options);
    await outcome(act(one, old));
    const { data } = await other.contacts.list({});
    for (const { id } of data) await other.contacts.erase(id);
    expect(await tablesWith(storage, ["zebulon", phone, "+4915187654321"])).toEqual([]);
  });

  it("leaves nothing of the response to a merge into it that ends just after", async () => {
    const { storage, engine, other, old } = await known();
    const { id: merged } = await other.contacts.create({ name: "Zebulon the younger" });
    const shows = ({ collection: of, ...write }: Write): boolean =>
      of === idempotency && "row" in write && String(write.row["response"]).includes("attributes");
    const erase = () => other.contacts.erase(old.contact);
    const one = engine(overtaken(storage, shows, erase), options);
    expect(await outcome(one.contacts.merge(old.contact, merged, keyed))).toBe("erased");
    expect(await tablesWith(storage, ["zebulon", phone])).toEqual([]);
  });

  it("leaves nothing of its conversation without messages that is shown just after", async () => {
    const storage = memory();
    const { engine } = world();
    const other = engine(storage, options);
    const { id: to } = await other.contacts.create({ phone, name: "Zebulon" });
    await other.conversations.open({ to });
    const erase = () => other.contacts.erase(to);
    const one = engine(
      overtaken(storage, () => true, erase),
      options,
    );
    await expect(one.conversations.open({ to }, keyed)).rejects.toMatchObject({
      errors: [{ pointer: "/to" }],
    });
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
  });

  it.each<[string, Parameters<typeof erasing>[1]]>([
    ["a note", acts["a note"] ?? expect.fail()],
    [
      "a response that shows its metadata",
      ({ conversations: { update } }, { thread }) =>
        update(thread, { metadata: { of: "zebulon" } }, keyed),
    ],
  ])("leaves nothing of %s that is stored while its conversation is removed", async (_, act) => {
    const { storage, acted } = await erasing(conversations, act);
    expect(acted).toMatchObject({ status: "fulfilled" });
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
  });

  it("leaves nothing of a response that shows a message while that is removed", async () => {
    const { storage, acted } = await erasing(messages, ({ messages: { redact } }, { redacted }) =>
      redact(redacted, keyed),
    );
    expect(acted).toMatchObject({ status: "fulfilled" });
    expect(await tablesWith(storage, [phone])).toEqual([]);
  });

  const refused: Readonly<Record<string, (engine: MessagingEngine, old: Old) => Promise<unknown>>> =
    {
      "an edit": ({ messages: { edit } }, { scheduled }) => edit(scheduled, { body: "pay" }, keyed),
      "a reply": ({ conversations: { reply } }, { thread }) =>
        reply(thread, { body: "pay" }, keyed),
    };

  it("leaves nothing of an edit that a policy refuses while its message is removed", async () => {
    const { storage, acted } = await erasing(messages, refused["an edit"] ?? expect.fail());
    expect(acted).toMatchObject({ reason: { code: "policy_denied" } });
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
  });

  it.each(Object.entries(refused))(
    "leaves nothing of %s that a policy refused before and that is stored after",
    async (_, act) => {
      const { storage, engine, other, old } = await known();
      const erase = () => other.contacts.erase(old.contact);
      const one = engine(overtaken(storage, writesTo(idempotency), erase), options);
      await expect(act(one, old)).rejects.toMatchObject({ code: "not_found" });
      expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
    },
  );

  it.each(["contact", "conversation"])(
    "leaves nothing of a trigger's invalid input when its %s is erased meanwhile or later",
    async (given) => {
      for (const when of ["meanwhile", "later"]) {
        const storage = memory();
        const { engine } = world();
        const other = engine(storage, thinking);
        const { id: playbook_id } = await other.playbooks.create({
          name: "Greet",
          enabled: true,
          steps: [{ id: "greet", type: "send", text: "Hello!" }],
        });
        const { id: agent } = await other.agents.create({ name: "Ada", channels: ["sms"] });
        const { id: contact_id } = await other.contacts.create({ phone });
        const { id: conversation_id } = await other.conversations.open({ to: phone });
        const place = given === "contact" ? { contact_id } : { conversation_id };
        const erase = () => other.contacts.erase(contact_id);
        const slow = when === "later" ? storage : overtaken(storage, writesTo(idempotency), erase);
        const one = engine(slow, thinking);
        const trigger = () =>
          one.agents.trigger(agent, { ...place, playbook_id, input: { zebulon: 1 } }, keyed);
        await expect(trigger()).rejects.toMatchObject({ code: "validation_failed" });
        if (when === "later") {
          await expect(trigger()).rejects.toMatchObject({
            errors: [{ pointer: "/input/zebulon" }],
          });
          await one.contacts.erase(contact_id);
          expect(await outcome(trigger())).toBe("erased");
        }
        expect([when, await tablesWith(storage, ["zebulon"])]).toEqual([when, []]);
      }
    },
  );

  it("is a new contact when it writes while its messages are being removed", async () => {
    const { storage, engine, contact, acted } = await erasing(messages, ({ sandbox }) =>
      sandbox.inbound({ from: phone, body: "Hello, it is me" }, keyed),
    );
    expect(acted).toMatchObject({ status: "fulfilled" });
    const { data } = await engine.contacts.list({});
    expect(data).toMatchObject([{ phone, name: null }]);
    expect(data[0]?.id).not.toBe(contact);
    const { data: thread } = await engine.contacts.messages(data[0]?.id ?? "");
    expect(thread.map(({ body }) => body)).toEqual(["Hello, it is me"]);
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
  });
});

// Elsewhere all reads of a command show the same moment.
const readingOverTime = storages.filter(({ name }) => name === "PostgreSQL");

it.each(readingOverTime)(
  "a message that is erased while its lost attempt is read fails no job, on $name",
  async ({ open }) => {
    const { clock, engine, started, log } = world();
    const ground = open();
    const first = await started(ground.connect(), {
      transports: [carrier({ send: () => new Promise(() => {}) })],
    });
    const { id, contact_id } = await first.messages.send({ to: "+15005550101", body: "Hi" });
    await clock.advance(1_000);
    expect((await first.messages.get(id)).status).toBe("sending");
    await first.stop({ deadlineMs: 0 });
    const other = engine(ground.connect());
    let erasures = 0;
    const erased = beforeReads(ground.connect(), async (lookups) => {
      if (!lookups.some(({ index }) => index.collection === attempts)) return;
      if (erasures++ === 0) await other.contacts.erase(contact_id);
    });
    await started(erased, { transports: [carrier()] });
    await clock.advance(120_000);
    expect(erasures).toBeGreaterThan(0);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  },
);
