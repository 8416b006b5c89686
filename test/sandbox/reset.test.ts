/** Resets of a sandbox that is in use meanwhile. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { consentEvidence, consents } from "../../src/contacts/consent/rows.ts";
import { identities } from "../../src/contacts/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { Message } from "../../src/messages/types.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import type { Write } from "../../src/ports/storage.ts";
import type { SandboxResetResult } from "../../src/sandbox/types.ts";
import { mail, mailboxes, webchatSessions } from "../../src/webchat/rows.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits, overtaken, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";

const removesFrom = (writes: readonly Write[], name: string): boolean =>
  writes.some(({ kind, collection }) => kind === "remove" && collection.name === name);

it("a repeated reset gets the response of the first, and removes nothing after it", async () => {
  const { clock, engine } = world();
  const key = { idempotencyKey: "reset" };
  let repeated: Promise<SandboxResetResult> | undefined;
  const storage = beforeCommits(memory(), (writes) => {
    // The client repeats its request while the first reset is under way.
    if (removesFrom(writes, "contacts")) repeated ??= one.sandbox.reset(key);
    return Promise.resolve();
  });
  const one = engine(storage);
  await one.sandbox.seed();
  const first = await one.sandbox.reset(key);
  const { id } = await one.contacts.create({ phone: "+15005550042" });
  await clock.settle();
  expect(await repeated).toEqual(first);
  expect(await one.sandbox.reset(key)).toEqual(first);
  expect((await one.contacts.get(id)).id).toBe(id);
});

it("a reset whose repetition is answered first gets that response, too", async () => {
  const { engine } = world();
  const key = { idempotencyKey: "reset" };
  const ground = memory();
  const other = engine(ground);
  let repeated: SandboxResetResult | undefined;
  // The last commit of a reset stores its response.
  const one = engine(
    overtaken(ground, writesTo(idempotency, "update"), async () => {
      repeated = await other.sandbox.reset(key);
    }),
  );
  await one.sandbox.seed();
  const first = await one.sandbox.reset(key);
  expect(first).toEqual(repeated);
  expect(await one.sandbox.reset(key)).toEqual(repeated);
});

it("the idempotency keys of changes that a reset leaves stay", async () => {
  const one = world().engine(memory(), {
    http: { client: { send: () => Promise.reject(new Error("nobody is there")), close() {} } },
  });
  const twice = async <T>(make: (nth: number) => Promise<T>) => [await make(0), await make(1)];
  const accounts = await twice((n) => one.accounts.create({ name: `account ${n}` }));
  const keys = await twice((n) => one.apiKeys.create({ name: `key ${n}` }));
  const senders = await twice((n) =>
    one.senders.create({ address: `+1555000000${n}`, channels: ["sms"], transport: "sandbox" }),
  );
  const webhook = { url: "https://shop.example/hook", events: ["*" as const] };
  const webhooks = await twice(() => one.webhooks.create(webhook));
  await twice((n) => one.operators.save(`person ${n}`, { name: "Kim" }));
  const idOf = (rows: readonly { readonly id: string }[], n: number) => rows[n]?.id ?? "";
  // With another number, each has another input.
  const changes: Record<string, (n: number, key: { idempotencyKey: string }) => Promise<unknown>> =
    {
      "accounts.create": (n, key) => one.accounts.create({ name: `new ${n}` }, key),
      "accounts.update": (n, key) =>
        one.accounts.update(accounts[0]?.account.id ?? "", { name: `other ${n}` }, key),
      "apiKeys.create": (n, key) => one.apiKeys.create({ name: `new ${n}` }, key),
      "apiKeys.rotate": (n, key) => one.apiKeys.rotate(idOf(keys, n), {}, key),
      "apiKeys.revoke": (n, key) => one.apiKeys.revoke(idOf(keys, n), key),
      "operators.save": (n, key) => one.operators.save("kim", { name: `Kim ${n}` }, key),
      "operators.remove": (n, key) => one.operators.remove(`person ${n}`, key),
      "senders.create": (n, key) =>
        one.senders.create(
          { address: `+1555000001${n}`, channels: ["sms"], transport: "sandbox" },
          key,
        ),
      "senders.update": (n, key) => one.senders.update(idOf(senders, 0), { daily_cap: 5 + n }, key),
      "senders.remove": (n, key) => one.senders.remove(idOf(senders, n), key),
      "webhooks.create": (n, key) =>
        one.webhooks.create({ ...webhook, url: `${webhook.url}/${n}` }, key),
      "webhooks.update": (n, key) =>
        one.webhooks.update(idOf(webhooks, 0), { url: `${webhook.url}/${n}` }, key),
      "webhooks.rotateSecret": (n, key) => one.webhooks.rotateSecret(idOf(webhooks, n), {}, key),
      "webhooks.remove": (n, key) => one.webhooks.remove(idOf(webhooks, n), key),
    };
  for (const [name, change] of Object.entries(changes)) await change(0, { idempotencyKey: name });
  await one.sandbox.reset();
  for (const [name, change] of Object.entries(changes)) {
    await expect(change(1, { idempotencyKey: name }), name).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
  }
});

it.each([
  { removed: "messages", kept: 0 },
  { removed: "conversations", kept: 0 },
  { removed: "contact_identities", kept: 0 },
  { removed: "contacts", kept: 1 },
])(
  "a message during the removal of $removed stays with its contact and its key, or goes with both",
  async ({ removed, kept }) => {
    const { engine } = world();
    const hello = { to: "+15005550001", body: "Hello" };
    const key = { idempotencyKey: "hello" };
    let sent: Promise<Message> | undefined;
    const storage = beforeCommits(memory(), (writes) => {
      if (removesFrom(writes, removed)) sent ??= one.messages.send(hello, key);
      return Promise.resolve();
    });
    const one = engine(storage);
    await one.messages.send(hello);
    await one.sandbox.reset();
    const message = await (sent ?? expect.fail("nothing was sent"));

    const { data } = await one.messages.list();
    expect(data.map(({ id }) => id)).toEqual(kept === 1 ? [message.id] : []);
    for (const { conversation_id, contact_id } of data) {
      expect((await one.conversations.get(conversation_id)).contact.id).toBe(contact_id);
      expect((await one.contacts.get(contact_id)).id).toBe(contact_id);
    }
    const again = await one.messages.send(hello, key);
    expect(again.id === message.id).toBe(kept === 1);
    expect((await one.messages.list()).data).toHaveLength(1);
    expect((await one.contacts.list()).data.map(({ id }) => id)).toEqual([again.contact_id]);
  },
);

it.each([
  { removed: "conversations", body: "STOP", kept: 0, optedOut: 0 },
  { removed: "contact_identities", body: "STOP", kept: 0, optedOut: 0 },
  { removed: "contacts", body: "STOP", kept: 1, optedOut: 1 },
  { removed: "contacts", body: "Hello", kept: 1, optedOut: 0 },
])(
  "a contact that writes $body during the removal of $removed has the consent of that time only",
  async ({ removed, body, kept, optedOut }) => {
    const { engine } = world();
    const from = "+15005550001";
    let received: Promise<Message> | undefined;
    const storage = memory();
    const one = engine(
      beforeCommits(storage, (writes) => {
        if (removesFrom(writes, removed)) received ??= one.sandbox.inbound({ from, body });
        return Promise.resolve();
      }),
    );
    await one.sandbox.inbound({ from, body: "STOP" });
    await one.sandbox.reset();
    const { id } = await (received ?? expect.fail("nothing was received"));

    const { data } = await one.contacts.list();
    expect(data).toHaveLength(kept);
    for (const contact of data) {
      expect(contact.opted_out).toBe(optedOut === 1);
      const { data: shown } = await one.contacts.consents(contact.id);
      const evidence = shown.flatMap((consent) => consent.evidence);
      expect(evidence.map(({ message_id }) => message_id)).toEqual(optedOut === 1 ? [id] : []);
    }
    // A contact's address has a row from the start.
    expect(await rowsOf(storage, consents)).toHaveLength(kept);
    expect(await rowsOf(storage, consentEvidence)).toHaveLength(optedOut);
  },
);

it("sample data can be added again after a sample contact was erased", async () => {
  const one = world().engine(memory());
  const { contacts } = await one.sandbox.seed();
  const [sample] = (await one.contacts.list({ phone: "+15005550101" })).data;
  await one.contacts.erase(sample?.id ?? expect.fail("no sample contact"));
  expect(await one.sandbox.seed()).toMatchObject({ contacts: 1 });
  expect((await one.contacts.list()).data).toHaveLength(contacts);
});

it("a simulated text message is refused by a sender that has no texts", async () => {
  const one = world().engine(memory());
  const text = { from: "+15005550003", to: "sandbox", body: "STOP" };
  await expect(one.sandbox.inbound(text)).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ pointer: "/to", code: "wrong_channel" }],
  });
  expect((await one.messages.list()).data).toEqual([]);
});

it.each([
  [
    "a delivery",
    async (other: MessagingEngine, to: string) => {
      await other.messages.send({ to, channel: "webchat", body: "Hello" });
    },
  ],
  [
    "a redaction",
    async (other: MessagingEngine, contact_id: string) => {
      const { id } = await other.webchat.open({ contact_id });
      const message = await other.webchat.sendAsVisitor(id, { body: "Hello" });
      await other.messages.redact(message.id);
    },
  ],
])("%s in webchat during the reset leaves no orphaned rows", async (_, act) => {
  const { clock, engine, started } = world();
  const storage = memory();
  const other = await started(storage);
  const { contact_id } = await other.webchat.open();
  let meanwhile: Promise<void> | undefined;
  const write = async () => {
    await act(other, contact_id);
    await clock.settle();
  };
  const one = engine(
    beforeCommits(storage, async (writes) => {
      if (removesFrom(writes, "conversations")) await (meanwhile ??= write());
    }),
  );
  await other.messages.send({ to: contact_id, channel: "webchat", body: "Welcome" });
  await clock.settle();
  await one.sandbox.reset();
  await clock.settle();
  expect(meanwhile).toBeDefined();
  const known = new Set((await other.messages.list()).data.map(({ id }) => id));
  const entries = await rowsOf(storage, mail);
  expect(entries.filter(({ message_id }) => !known.has(message_id))).toEqual([]);
  const addresses = new Set((await rowsOf(storage, identities)).map(({ address }) => address));
  const rows = [...(await rowsOf(storage, mailboxes)), ...(await rowsOf(storage, webchatSessions))];
  expect(rows.filter(({ address }) => !addresses.has(address))).toEqual([]);
});
