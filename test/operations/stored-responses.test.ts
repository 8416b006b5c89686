import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { takesKey } from "../../src/operations/api-route.ts";
import type { CommandOptions } from "../../src/operations/handle-methods.ts";
import { showsNothing } from "../../src/operations/index.ts";
import { call, textOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { failingCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const keyed = (idempotencyKey: string): CommandOptions => ({ idempotencyKey });
const phone = "+15005550001";

/** Commands whose responses contain nothing that erasure or redaction removes. */
const showNothing = [
  "agents.remove",
  "apiKeys.create",
  "apiKeys.revoke",
  "apiKeys.rotate",
  "contacts.removeObservation",
  "operators.remove",
  "operators.save",
  "playbooks.remove",
  "sandbox.seed",
  "senders.create",
  "senders.remove",
  "senders.update",
  "webhooks.create",
  "webhooks.recover",
  "webhooks.remove",
  "webhooks.rotateSecret",
  "webhooks.update",
];

describe("the stored responses of idempotency keys", () => {
  it("contain a resource, except those of commands known to have no personal data", () => {
    const silent = apiRoutes(defaultLimits).flatMap((route) => {
      const { operation } = route;
      if (operation.kind !== "command" || !takesKey(operation)) return [];
      return operation.shows === showsNothing ? [operation.name] : [];
    });
    expect([...new Set(silent)].toSorted()).toEqual(showNothing);
  });
});

describe.each(lightStorages)("stored responses on $name", ({ open }) => {
  it("are removed with the contact that they show, for every command", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { contacts, conversations, messages, sandbox, webchat } = one;
    const contact = await contacts.create({ phone, name: "Zoe" }, keyed("create"));
    const { id: contact_id } = contact;
    const inbound = await sandbox.inbound({ from: phone, body: "Hi" }, keyed("inbound"));
    const conversation_id = inbound.conversation_id;
    const later = new Date(clock.now() + 3_600_000).toISOString();
    const scheduled = await messages.send({ to: phone, body: "later", send_at: later });
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () => contacts.create({ phone, name: "Zoe" }, keyed("create")),
      update: () => contacts.update(contact_id, { language: "de" }, keyed("update")),
      consent: () =>
        contacts.setConsent(contact_id, "text", { status: "opted_in" }, keyed("consent")),
      observe: () =>
        contacts.addObservation(
          contact_id,
          { content: "likes tea", kind: "taste" },
          keyed("observe"),
        ),
      inbound: () => sandbox.inbound({ from: phone, body: "Hi" }, keyed("inbound")),
      event: () => sandbox.event({ type: "contact.updated", contact_id }, keyed("event")),
      send: () => messages.send({ to: phone, body: "Hello" }, keyed("send")),
      edit: () => messages.edit(scheduled.id, { body: "edited" }, keyed("edit")),
      cancel: () => messages.cancel(scheduled.id, keyed("cancel")),
      // A replay has no token.
      chat: async () => (await webchat.open({ contact_id }, keyed("chat"))).id,
      open: () => conversations.open({ to: phone }, keyed("open")),
      reply: () => conversations.reply(conversation_id, { body: "Yes?" }, keyed("reply")),
      note: () => conversations.addNote(conversation_id, { body: "rich" }, keyed("note")),
      label: () => conversations.setLabels(conversation_id, ["vip"], keyed("label")),
      read: () => conversations.markRead(conversation_id, keyed("read")),
      handOff: () => conversations.handOff(conversation_id, { reason: "asked" }, keyed("handOff")),
      handBack: () => conversations.handBack(conversation_id, keyed("handBack")),
      assign: () =>
        conversations.assign(conversation_id, { type: "human", id: "ann" }, keyed("assign")),
      close: () => conversations.update(conversation_id, { status: "closed" }, keyed("close")),
    };
    for (const [name, call] of Object.entries(calls)) {
      expect([name, await call()]).toEqual([name, await call()]);
    }

    await contacts.erase(contact_id);

    for (const [name, call] of Object.entries(calls)) {
      expect([name, await outcome(call())]).toEqual([name, "erased"]);
    }
  });
});

describe.each(lightStorages)("a replay on $name", ({ open }) => {
  it("is called one only if all of it was there before", async () => {
    const { engine } = world();
    const port = open().connect();
    let allowed = Infinity;
    const storage = failingCommits(port, () => allowed-- <= 0);
    const one = engine(storage);
    const { key } = await one.accounts.create({ name: "batch" });
    const messages = Array.from({ length: 70 }, (_, n) => ({
      to: "+15005550001",
      body: String(n),
    }));
    const post = async (idempotencyKey: string): Promise<[number, string | undefined, string]> => {
      const answer = await call(one.api, {
        method: "POST",
        path: "/v1/messages/batch",
        key: key.secret,
        headers: ["Idempotency-Key", idempotencyKey],
        body: { messages },
      });
      return [answer.status, answer.headers["Idempotent-Replayed"], textOf(answer)];
    };
    const interrupted: boolean[] = [];
    for (let commits = 0; commits < 5; commits++) {
      const name = `after-${commits}`;
      allowed = commits;
      const [status] = await post(name);
      allowed = Infinity;
      interrupted.push(status === 503);
      const [, replayed, body] = await post(name);
      expect(replayed).toBe(status === 503 ? undefined : "true");
      expect(await post(name)).toEqual([200, "true", body]);
    }
    expect(interrupted.slice(0, 3)).toEqual([true, true, true]);
  });

  it("of a removal, which returns nothing, is as successful as the removal", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { account, key } = await one.accounts.create({ name: "removal" });
    const sender = await one.account(account.id).senders.create({
      address: "+15005550006",
      channels: ["sms"],
      transport: "sandbox",
    });
    const remove = async (): Promise<unknown> => {
      const answer = await call(one.api, {
        method: "DELETE",
        path: `/v1/senders/${sender.id}`,
        key: key.secret,
        headers: ["Idempotency-Key", "k"],
      });
      return [answer.status, answer.headers["Idempotent-Replayed"], textOf(answer)];
    };
    expect(await remove()).toEqual([204, undefined, ""]);
    expect(await remove()).toEqual([204, "true", ""]);
  });
});
