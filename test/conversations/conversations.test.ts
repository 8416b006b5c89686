import { describe, expect, it } from "vitest";
import {
  addScore,
  sentimentOf,
  type SentimentState,
} from "../../src/contacts/sentiment/sentiment-rules.ts";
import type { EventType } from "../../src/events/types.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+15005551001";
const line = "+15005559999";
const anna = { type: "human", id: "anna" } as const;

/** Records the events of conversations, oldest first. */
function listener(account: AccountHandle) {
  let seen = 0;
  return async (): Promise<readonly { readonly type: EventType; readonly data: object }[]> => {
    const { data } = await account.events.list({ limit: 100 });
    const all = data.filter(({ type }) => type.startsWith("conversation.")).toReversed();
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh.map(({ type, data: told }) => ({ type, data: told }));
  };
}

describe.each(lightStorages)("a conversation on $name", ({ open }) => {
  async function begun() {
    const { clock, started } = world();
    const port = open().connect();
    const mast = carrier();
    const one = await started(port, { transports: [mast] });
    const { conversation_id: id, contact_id } = await one.sandbox.inbound({
      from: phone,
      body: "Hello",
    });
    const { id: agent_id } = await one.agents.create({
      name: "Ada",
      channels: ["sms"],
      enabled: false,
    });
    const agent = { type: "agent", id: agent_id } as const;
    await clock.settle();
    return {
      clock,
      one,
      mast,
      id,
      contact_id,
      agent,
      port,
      own: one.conversations,
      told: listener(one.account()),
    };
  }

  it("shows its contact, the last message's first 140 characters and the unread count", async () => {
    const { one, own, id, contact_id } = await begun();
    const body = "🙂".repeat(200);
    const { id: last } = await one.sandbox.inbound({ from: phone, body });
    expect(await own.get(id)).toMatchObject({
      contact: { id: contact_id, name: phone, phone },
      medium: "text",
      status: "open",
      handler: "none",
      assignee: null,
      unread_count: 2,
      message_count: 2,
      last_message: { id: last, direction: "inbound", preview: "🙂".repeat(140) },
    });
    expect((await own.markRead(id)).unread_count).toBe(0);
    await one.messages.send({ to: phone, body: "Bye" });
    const { data } = await own.messages(id, { limit: 2 });
    expect(data.map((each) => each.body)).toEqual(["Bye", body]);
    expect(await own.get(id)).toMatchObject({
      unread_count: 0,
      last_message: { direction: "outbound", preview: "Bye" },
    });
  });

  it("can be opened once without messages, on a medium of the contact's addresses", async () => {
    const { own, id, contact_id, told } = await begun();
    expect((await own.open({ to: phone })).id).toBe(id);
    expect((await own.open({ to: contact_id })).id).toBe(id);
    await own.update(id, { status: "closed" });
    await told();
    const fresh = await own.open({ to: contact_id });
    expect(fresh).toMatchObject({
      status: "open",
      message_count: 0,
      last_message: null,
      contact: { name: phone },
    });
    expect(fresh.id).not.toBe(id);
    expect(await told()).toEqual([{ type: "conversation.created", data: { conversation: fresh } }]);
    expect(await own.open({ to: "+15005551002", medium: "text" })).toMatchObject({
      contact: { phone: "+15005551002" },
    });
    await expect(own.open({ to: contact_id, medium: "webchat" })).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(own.open({ to: phone, medium: "webchat" })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  it("is handled by the person who replies; the reply uses the addresses of the last message", async () => {
    const { own, id, agent, mast, clock, told } = await begun();
    await own.assign(id, agent);
    await told();
    const reply = await own.reply(id, { body: "Hi there", author_id: "anna" });
    expect(reply).toMatchObject({
      direction: "outbound",
      channel: "sms",
      from: line,
      to: phone,
      status: "queued",
      author: anna,
      conversation_id: id,
    });
    expect(await own.get(id)).toMatchObject({ handler: "human", assignee: anna });
    expect(await told()).toMatchObject([
      {
        type: "conversation.updated",
        data: { conversation: { handler: "human", assignee: anna } },
      },
    ]);
    await clock.settle();
    expect(mast.calls.map(({ message }) => message.body)).toEqual(["Hi there"]);
    const picture = [{ url: "https://example.com/a.png" }];
    expect(await own.reply(id, { body: "", media: picture })).toMatchObject({
      channel: "mms",
      media: picture,
    });
    expect(await told(), "it was a person's already").toEqual([]);
    expect(await own.get(id), "anna stays").toMatchObject({ assignee: anna });
    await own.reply(id, { body: "Hi", author_id: "bob" });
    expect(await own.get(id), "anna stays, though bob helped").toMatchObject({ assignee: anna });
    expect(await own.handBack(id)).toMatchObject({ handler: "ai", assignee: agent });
    await own.reply(id, { body: "Hi" });
    expect(await own.get(id), "nobody is named").toMatchObject({
      handler: "human",
      assignee: null,
    });
    expect(await own.handBack(id)).toMatchObject({ handler: "ai", assignee: agent });
  });

  it("is handled by the person who replies from another sender, which the contact then knows", async () => {
    const { one, own, id, mast } = await begun();
    const from = "+15005559998";
    await one.senders.create({ address: from, channels: ["sms"], transport: mast.name });
    const text = { to: phone, body: "From the store" };
    expect((await one.messages.preview(text)).senders).toEqual([line, from]);
    const image = { to: phone, body: "", media: [{ url: "https://example.com/a.png" }] };
    expect((await one.messages.preview(image)).senders).toEqual([line]);
    const reply = await own.reply(id, { body: "From the store", from, author_id: "anna" });
    expect(reply).toMatchObject({ from, to: phone, conversation_id: id });
    expect(await own.get(id)).toMatchObject({ handler: "human", assignee: anna });
    expect(await own.reply(id, { body: "And again" })).toMatchObject({ from });
    const { media } = image;
    await expect(own.reply(id, { body: "", media, from })).rejects.toMatchObject({
      code: "no_sender",
    });
  });

  it("is reopened by a reply unless a newer one exists", async () => {
    const { own, id, contact_id } = await begun();
    await own.update(id, { status: "closed" });
    await own.reply(id, { body: "One more thing" });
    expect(await own.get(id)).toMatchObject({ status: "open", handler: "human", closed_at: null });
    await own.update(id, { status: "closed" });
    const { id: conflictingId } = await own.open({ to: contact_id });
    const replaced = { code: "conflict", conflictingId };
    await expect(own.reply(id, { body: "Too late" })).rejects.toMatchObject(replaced);
    await expect(own.update(id, { status: "open" })).rejects.toMatchObject(replaced);
    expect((await own.get(id)).message_count).toBe(2);
  });

  it("wakes when its snooze ends, or earlier when the contact writes", async () => {
    const { one, own, id, clock, told } = await begun();
    await told();
    const until = (ms: number): string => new Date(clock.now() + ms).toISOString();
    await own.update(id, { status: "snoozed", snoozed_until: until(1_000) });
    const later = until(60_000);
    expect(await own.update(id, { status: "snoozed", snoozed_until: later })).toMatchObject({
      snoozed_until: later,
    });
    await one.messages.send({ to: phone, body: "By the way" });
    await clock.advance(59_999);
    expect((await own.get(id)).status).toBe("snoozed");
    await clock.advance(1);
    expect(await own.get(id)).toMatchObject({ status: "open", snoozed_until: null });
    expect((await told()).map(({ type }) => type)).toEqual(
      Array.from({ length: 3 }, () => "conversation.updated"),
    );

    await own.update(id, { status: "snoozed", snoozed_until: until(60_000) });
    await one.sandbox.inbound({ from: phone, body: "Me again" });
    expect(await own.get(id)).toMatchObject({ status: "open", snoozed_until: null });
    await told();
    await clock.advance(120_000);
    expect(await told(), "nobody wakes it twice").toEqual([]);
    for (const snoozed_until of [until(-1), until(0), until(367 * 86_400_000)]) {
      await expect(own.update(id, { status: "snoozed", snoozed_until })).rejects.toMatchObject({
        errors: [{ pointer: "/snoozed_until" }],
      });
    }
    await expect(own.update(id, { status: "snoozed" })).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(own.update(id, { snoozed_until: until(1_000) })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  it("has one event per change, and none if nothing changes", async () => {
    const { own, id, told } = await begun();
    await told();
    const before = await own.get(id);
    await own.update(id, { status: "open", priority: "normal", metadata: {} });
    await own.setLabels(id, []);
    await own.assign(id, null);
    await own.handBack(id);
    await own.markUnread(id);
    expect(await told()).toEqual([]);
    expect(await own.get(id)).toEqual(before);

    for (const mark of ["markRead", "markUnread"] as const) {
      const marked = await own[mark](id);
      expect(marked.unread_count).toBe(mark === "markRead" ? 0 : 1);
      expect(await told()).toMatchObject([
        {
          type: "conversation.updated",
          data: { conversation: { unread_count: marked.unread_count } },
        },
      ]);
      await own[mark](id);
      expect(await told(), "it was marked already").toEqual([]);
    }
    await own.markRead(id);
    expect((await own.list({ unread: true })).data).toEqual([]);
    await told();

    const edited = await own.update(id, {
      priority: "urgent",
      metadata: { ticket: "7" },
      status: "closed",
    });
    expect(edited).toMatchObject({
      priority: "urgent",
      metadata: { ticket: "7" },
      status: "closed",
    });
    await own.update(id, { status: "closed" });
    await own.setLabels(id, ["b", "a"]);
    expect(await told()).toMatchObject([
      {
        type: "conversation.closed",
        data: { conversation: { priority: "urgent", status: "closed" } },
      },
      { type: "conversation.updated", data: { conversation: { labels: ["b", "a"] } } },
    ]);
    await expect(own.setLabels(id, ["a", "a"])).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(own.setLabels(id, ["x".repeat(65)])).rejects.toMatchObject({
      code: "validation_failed",
    });
    const many = Array.from({ length: 51 }, (_, i) => `label ${i}`);
    await expect(own.setLabels(id, many)).rejects.toMatchObject({ code: "validation_failed" });
  });

  it("is handed off once with a summary, and handed back to its agent", async () => {
    const { one, own, id, contact_id, agent, told } = await begun();
    for (let i = 0; i < 11; i++) await one.sandbox.inbound({ from: phone, body: `${i}` });
    await own.assign(id, agent);
    const thread = (await own.messages(id, { limit: 10 })).data.map((each) => each.id).toReversed();
    await told();
    const reason = "wants a person";
    expect(await own.handOff(id, { reason, summary: "About a refund." })).toMatchObject({
      handler: "queue",
      assignee: agent,
    });
    await own.handOff(id, { reason: "again" });
    expect(await told()).toEqual([
      { type: "conversation.updated", data: expect.objectContaining({}) as unknown },
      {
        type: "conversation.handoff",
        data: {
          conversation_id: id,
          contact: { id: contact_id, name: phone, phone },
          agent_id: agent.id,
          reason,
          rule: null,
          summary: "About a refund.",
          last_message_ids: thread,
          sentiment: null,
        },
      },
    ]);
    expect(await own.assign(id, anna)).toMatchObject({ handler: "human", assignee: anna });
    expect(await own.handOff(id, { reason: "lunch" }), "its handler is released").toMatchObject({
      assignee: null,
    });
    expect(await own.handBack(id), "whoever had it before people did").toMatchObject({
      handler: "ai",
      assignee: agent,
    });
    await own.update(id, { status: "closed" });
    for (const late of [own.handOff(id, { reason }), own.handBack(id), own.assign(id, anna)]) {
      await expect(late).rejects.toMatchObject({ code: "conflict" });
    }
    for (const nobody of ["anna", "agt_01JZZZZZZZZZZZZZZZZZZZZZZZ"]) {
      await own.update(id, { status: "open" });
      const errors = [expect.objectContaining({ pointer: "/assignee/id" })];
      await expect(own.assign(id, { type: "agent", id: nobody })).rejects.toMatchObject({
        code: "validation_failed",
        errors,
      });
    }
  });

  it("waits for a person from a hand-off or an unanswered message until a person answers", async () => {
    const { one, own, id, agent, clock } = await begun();
    const start = (await own.get(id)).waiting_since;
    expect(start, "since its contact wrote").toBe((await own.get(id)).created_at);
    await clock.advance(1_000);
    await one.sandbox.inbound({ from: phone, body: "Anybody there?" });
    await own.assign(id, anna);
    expect((await own.get(id)).waiting_since, "having it is no answer").toBe(start);
    await own.reply(id, { body: "Hi", author_id: "anna" });
    expect(await own.get(id)).toMatchObject({ waiting_since: null });
    await one.sandbox.inbound({ from: phone, body: "HELP" });
    expect(await own.get(id), "the engine answers a keyword").toMatchObject({
      waiting_since: null,
    });

    await own.assign(id, agent);
    await one.sandbox.inbound({ from: phone, body: "Hm" });
    expect(await own.get(id), "an agent has it").toMatchObject({ waiting_since: null });
    await clock.advance(1_000);
    const since = new Date(clock.now()).toISOString();
    expect(await own.handOff(id, { reason: "stuck" })).toMatchObject({ waiting_since: since });
    await clock.advance(1_000);
    await one.messages.send({ to: phone, body: "Please hold the line" });
    const other = await one.sandbox.inbound({ from: "+15005551002", body: "First!" });
    const { conversation_id: later } = await one.messages.send({
      to: "+15005551003",
      body: "Sale",
    });
    const waiting = await own.list({ waiting: true });
    expect(
      waiting.data.map((each) => [each.id, each.waiting_since === since]),
      "hand-offs first, and a notice waits for nobody",
    ).toEqual([
      [id, true],
      [other.conversation_id, false],
    ]);
    expect((await own.list({ unassigned: true })).data.map((each) => each.id)).toEqual([
      other.conversation_id,
      id,
    ]);
    expect((await own.list({ unassigned: false })).data.map((each) => each.id)).toEqual([later]);
    await own.update(id, { status: "closed" });
    expect((await own.list({ waiting: true })).data).toHaveLength(1);
  });

  it("does not move back in the inbox when a clock is set back", async () => {
    const { clock, one, own, id } = await begun();
    await clock.advance(600_000);
    const { conversation_id: other } = await one.sandbox.inbound({ from: line, body: "Hello" });
    await clock.advance(600_000);
    await one.sandbox.inbound({ from: phone, body: "Again" });
    clock.step(-900_000);
    await one.sandbox.inbound({ from: phone, body: "And again" });
    expect((await own.list()).data.map((each) => each.id)).toEqual([id, other]);
  });

  it("has internal notes, newest first", async () => {
    const { own, id, mast, clock } = await begun();
    const first = await own.addNote(id, { body: "Knows the <b>boss</b>", author_id: "anna" });
    const second = await own.addNote(id, { body: "Said so himself" });
    expect(first).toMatchObject({ author: anna, body: "Knows the <b>boss</b>" });
    expect(second.author).toEqual({ type: "human" });
    expect((await own.notes(id)).data).toEqual([second, first]);
    await clock.advance(60_000);
    expect(mast.calls).toEqual([]);
    expect((await own.get(id)).message_count).toBe(1);
  });

  it("shows a redacted message's text in no list, event or stored response", async () => {
    const { one, own, id } = await begun();
    const { id: message } = await one.sandbox.inbound({
      from: phone,
      body: "My secret is swordfish",
    });
    const shown = await own.update(id, { priority: "high" }, { idempotencyKey: "k" });
    expect(shown.last_message?.preview).toContain("swordfish");
    await one.messages.redact(message);
    expect((await own.get(id)).last_message).toMatchObject({ id: message, preview: "" });
    const everything = [
      await one.events.list({ limit: 100 }),
      await own.list(),
      await own.messages(id),
    ];
    expect(JSON.stringify(everything)).not.toContain("swordfish");
    await expect(
      own.update(id, { priority: "high" }, { idempotencyKey: "k" }),
    ).rejects.toMatchObject({
      code: "erased",
    });
  });

  it("is seeded in the sandbox on every channel and in every state", async () => {
    const { clock, engine, started } = world();
    const mast = carrier();
    const one = await started(open().connect(), { transports: [mast] });
    const made = await one.sandbox.seed();
    await clock.advance(60_000);
    expect(mast.calls, "what was sent in the story is sent no more").toEqual([]);
    const { data } = await one.conversations.list({ limit: 100 });
    expect(data).toHaveLength(made.conversations);
    const { data: messages } = await one.messages.list({ limit: 100 });
    expect(new Set(messages.map(({ channel }) => channel))).toEqual(
      new Set(["sms", "mms", "webchat"]),
    );
    expect(messages.map(({ created_at }) => created_at)).toEqual(
      messages
        .map((each) => each.created_at)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(messages.map(({ status }) => status))).toEqual(
      new Set(["received", "delivered"]),
    );
    expect(new Set(data.map(({ status }) => status))).toEqual(
      new Set(["open", "snoozed", "closed"]),
    );
    expect(new Set(data.map(({ medium }) => medium))).toEqual(new Set(["text", "webchat"]));
    expect((await one.conversations.list({ handler: "queue" })).data).toHaveLength(1);
    expect((await one.conversations.list({ assignee: "anna" })).data.length).toBeGreaterThan(1);
    const [damaged] = (await one.conversations.list({ label: "damaged" })).data;
    expect(damaged).toMatchObject({ contact: { name: "Maya Okafor" }, unread_count: 1 });
    const mood = [-0.35, -0.7, 0.65].reduce<SentimentState | null>(addScore, null);
    expect((await one.contacts.get(damaged?.contact.id ?? "")).sentiment).toEqual(
      mood && sentimentOf(mood),
    );
    expect((await one.conversations.notes(damaged?.id ?? "")).data).toHaveLength(2);
    clock.step(24 * 3_600_000);
    await clock.advance(60_000);
    expect((await one.conversations.list({ status: "snoozed" })).data, "it wakes").toEqual([]);
    const twin = engine(open().connect());
    expect(await twin.sandbox.seed()).toEqual(made);
  });
});
