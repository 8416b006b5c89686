import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import { carrier, held, type Carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+15005550101";
const other = "+15550001111";
const hello = { to: phone, body: "Hello" };

describe.each(lightStorages)("consent on $name", ({ open }) => {
  async function opened(options: Partial<EngineOptions> = {}, line: Carrier = carrier()) {
    const { clock, engine, started, log } = world();
    const storage = open().connect();
    const one = await started(storage, { transports: [line], ...options });
    const events: string[] = [];
    for (const type of ["contact.opted_out", "contact.opted_in"] as const) {
      one.on(type, () => void events.push(type));
    }
    /** Receives a text from the contact. */
    const says = async (body: string, over: object = {}) => {
      const message = await one.sandbox.inbound({ from: phone, body, ...over });
      await clock.settle();
      return message;
    };
    const sent = (): string[] => line.calls.map(({ message }) => message.body);
    return { clock, engine, storage, one, line, events, says, sent, log };
  }

  const consent = async (one: MessagingEngine, contact_id: string) => {
    const [first] = (await one.contacts.consents(contact_id)).data;
    if (first === undefined) throw new Error("no consent");
    return first;
  };

  it("is withdrawn by STOP: only a confirmation is sent, until START, which is confirmed, too", async () => {
    const { one, says, sent, events, clock } = await opened();
    const first = await says("Hi");
    await says(" stop! ");
    await says("STOP");
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
    expect(await one.contacts.get(first.contact_id)).toMatchObject({ opted_out: true });
    await says("HELP");
    expect(sent()).toEqual([expect.stringContaining("opted out")]);
    await says("Yes");
    await says("start");
    await clock.settle();
    expect(sent().slice(1)).toEqual([expect.stringContaining("opted in")]);
    expect(await outcome(one.messages.send(hello))).toBe("done");
    expect(events).toEqual(["contact.opted_out", "contact.opted_in"]);

    const [confirmation] = (await one.messages.list({ direction: "outbound" })).data.toReversed();
    expect(confirmation).toMatchObject({
      author: { type: "system" },
      conversation_id: first.conversation_id,
    });
    const { status, evidence } = await consent(one, first.contact_id);
    expect(status).toBe("opted_in");
    // A further answer was to another message.
    expect(evidence.map((each) => [each.status, each.source])).toEqual([
      ["opted_in", "keyword"],
      ["opted_out", "keyword"],
      ["opted_out", "keyword"],
    ]);
  });

  it("that is withdrawn stops queued and scheduled messages", async () => {
    const answer = held<{ outcome: "accepted"; provider_message_id: string }>();
    const line = carrier({
      send: ({ body }, { attempt_id }) =>
        body === "under way"
          ? answer.promise
          : { outcome: "accepted", provider_message_id: attempt_id },
    });
    const { one, says, sent, clock } = await opened({}, line);
    await one.messages.send({ ...hello, body: "under way" });
    await clock.settle();
    const queued = await one.messages.send({ ...hello, body: "queued" });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const scheduled = await one.messages.send({ ...hello, body: "scheduled", send_at });
    await says("STOP");
    expect(await outcome(one.messages.edit(scheduled.id, { body: "edited" }))).toBe(
      "recipient_opted_out",
    );
    answer.answer({ outcome: "accepted", provider_message_id: "p1" });
    await clock.advance(120_000);
    expect(sent()).toEqual(["under way", expect.stringContaining("opted out")]);
    for (const { id } of [queued, scheduled]) {
      const { status, error } = await one.messages.get(id);
      expect([status, error]).toMatchObject([
        "failed",
        { code: "recipient_opted_out", stage: "policy", permanent: true },
      ]);
      const { data } = await one.messages.timeline(id);
      expect(data.find(({ type }) => type === "policy")).toMatchObject({
        policy: "consent",
        verdict: "deny",
      });
    }
  });

  it("is not withdrawn by a suspected opt-out, which is flagged until a person or the contact decides", async () => {
    const { one, says, sent } = await opened();
    const near = await says("please stop texting me");
    expect(near.opt_out_suspected).toBe(true);
    expect((await one.conversations.get(near.conversation_id)).opt_out_suspected).toBe(true);
    expect(await outcome(one.messages.send(hello))).toBe("done");
    expect((await says("I meant: don't stop")).opt_out_suspected).toBe(false);
    expect((await one.conversations.get(near.conversation_id)).opt_out_suspected).toBe(true);
    // A person decides.
    await one.contacts.setConsent(near.contact_id, "text", {
      status: "opted_out",
      detail: "asked twice",
    });
    expect((await one.conversations.get(near.conversation_id)).opt_out_suspected).toBe(false);
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
    expect((await consent(one, near.contact_id)).evidence).toMatchObject([
      { source: "api", detail: "asked twice" },
    ]);
    expect(sent()).toEqual(["Hello"]);
  });

  it("is withdrawn by a suspected opt-out if the host application enables that", async () => {
    const { one, says, sent } = await opened({
      consent: { honorNearMatches: true, optOutText: "Bye." },
    });
    const near = await says("please stop texting me");
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
    expect(sent()).toEqual(["Bye."]);
    expect((await consent(one, near.contact_id)).evidence).toMatchObject([
      { source: "keyword", message_id: near.id },
    ]);
  });

  it.each(["STOP", "please stop texting me"])(
    "that is withdrawn from one sender (%s) leaves the contact with the sender that it had before",
    async (optOut) => {
      const { one, clock, says, sent } = await opened({
        consent: { scope: "sender", honorNearMatches: true },
      });
      await one.senders.create({ address: other, channels: ["sms"], transport: "sandbox" });
      const { conversation_id: id } = await says("Hello");
      await says(optOut, { to: other });
      const reply = await one.conversations.reply(id, { body: "Hello Ann" });
      expect(reply.from).toBe("+15005559999");
      expect((await one.messages.send(hello)).from).toBe("+15005559999");
      await clock.settle();
      expect(sent().slice(1)).toEqual(["Hello Ann", hello.body]);

      // Any other message moves the contact to the sender that it wrote to.
      await says("START", { to: other });
      expect((await one.conversations.reply(id, { body: "Welcome back" })).from).toBe(other);
    },
  );

  it("that is withdrawn with the first message leaves the contact with the only sender it knows", async () => {
    const { one, says } = await opened({ consent: { scope: "sender" } });
    await one.senders.create({ address: other, channels: ["sms"], transport: "sandbox" });
    await says("STOP", { to: other });
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
  });

  it("can be separate per sender", async () => {
    const { one, says, sent } = await opened({ consent: { scope: "sender" } });
    await one.senders.create({ address: other, channels: ["sms"], transport: "sandbox" });
    const { contact_id } = await says("STOP");
    expect(await outcome(one.messages.send({ ...hello, from: "+15005559999" }))).toBe(
      "recipient_opted_out",
    );
    expect(await outcome(one.messages.send({ ...hello, from: other }))).toBe("done");
    expect(await consent(one, contact_id)).toMatchObject({
      status: "unknown",
      opted_out_of: ["+15005559999"],
    });
    await says("STOP", { to: other });
    expect(await outcome(one.messages.send({ ...hello, from: other }))).toBe("recipient_opted_out");
    await says("START");
    expect(await outcome(one.messages.send({ ...hello, from: "+15005559999" }))).toBe("done");
    expect(await outcome(one.messages.send({ ...hello, from: other }))).toBe("recipient_opted_out");
    expect(sent().filter((body) => body.includes("opted out"))).toHaveLength(2);
    expect(await consent(one, contact_id)).toMatchObject({
      status: "unknown",
      opted_out_of: [other],
      opted_in_to: ["+15005559999"],
    });
    // START to one number opts a contact in to that sender, even after an opt-out of all.
    await one.contacts.setConsent(contact_id, "text", { status: "opted_out" });
    await says("START", { to: other });
    expect(await outcome(one.messages.send({ ...hello, from: other }))).toBe("done");
    expect(await outcome(one.messages.send({ ...hello, from: "+15005559999" }))).toBe(
      "recipient_opted_out",
    );
    expect(await consent(one, contact_id)).toMatchObject({
      status: "opted_out",
      opted_in_to: [other],
    });
  });

  it("is confirmed by a carrier that handles opt-outs itself, and can be reported by it", async () => {
    const line = carrier({
      confirms_opt_outs: true,
      send: () => ({
        outcome: "rejected",
        permanent: true,
        error: { code: "opted_out", message: "Blocked.", provider_code: "21610" },
      }),
    });
    const { one, says, events, clock } = await opened({}, line);
    const { contact_id } = await says("Hello?");
    const { id } = await one.messages.send(hello);
    await clock.settle();
    expect(await one.messages.get(id)).toMatchObject({
      status: "failed",
      error: { code: "opted_out" },
    });
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
    expect((await consent(one, contact_id)).evidence).toMatchObject([
      { source: "carrier", message_id: id },
    ]);
    expect(events).toEqual(["contact.opted_out"]);
    await says("START");
    await says("STOP");
    await clock.settle();
    expect(line.calls).toHaveLength(1);
  });

  it("of a sender that sends no SMS is confirmed by MMS", async () => {
    const { one, says, line } = await opened();
    await one.senders.create({ address: other, channels: ["mms"], transport: "sandbox" });
    await says("STOP", { to: other, media: [{ url: "https://example.com/stop.png" }] });
    expect(line.calls.map(({ message: { from, channel } }) => [from, channel])).toEqual([
      [other, "mms"],
    ]);
  });

  it("can be withdrawn through a receipt", async () => {
    const { one, line, clock } = await opened();
    const { id, contact_id } = await one.messages.send(hello);
    await clock.settle();
    await one.sandbox.receipts(id, [{ status: "undelivered", error: "opted_out" }]);
    expect(line.calls).toHaveLength(1);
    expect(await consent(one, contact_id)).toMatchObject({
      status: "opted_out",
      evidence: [{ source: "carrier" }],
    });
  });

  it("does not limit HELP, which is answered each time with the configured text", async () => {
    const { says, sent, one } = await opened({ consent: { helpText: "Call 555." } });
    await says("help");
    await says("INFO?");
    expect(sent()).toEqual(["Call 555.", "Call 555."]);
    expect((await one.events.list({ type: "message.received" })).data).toHaveLength(2);
  });

  it("is confirmed with the account's own texts, and with the engine's where it has none", async () => {
    const { one, sent, clock } = await opened({ consent: { optInText: "In.", helpText: "Help." } });
    const own = { opt_out_text: "Bakery: bye.", help_text: "Bakery: call 555." };
    const bakery = one.account((await one.accounts.create({ name: "Bakery", ...own })).account.id);
    const answers = async ({ sandbox }: Pick<MessagingEngine, "sandbox">, ...words: string[]) => {
      const before = sent().length;
      for (const body of words) {
        await sandbox.inbound({ from: phone, body });
        await clock.settle();
      }
      return sent().slice(before);
    };
    expect(await answers(bakery, "HELP", "STOP", "START")).toEqual([
      "Bakery: call 555.",
      "Bakery: bye.",
      "In.",
    ]);
    expect(await answers(one, "HELP", "STOP", "START")).toEqual([
      "Help.",
      expect.stringContaining("opted out"),
      "In.",
    ]);
    await one.accounts.update(bakery.scope.account_id, {
      opt_in_text: "Bakery: welcome back.",
      help_text: null,
    });
    expect(await answers(bakery, "HELP", "STOP", "START")).toEqual([
      "Help.",
      "Bakery: bye.",
      "Bakery: welcome back.",
    ]);
  });

  it("belongs to the address: erasing the contact or changing its number does not reset it", async () => {
    const { one, says, clock } = await opened();
    const { contact_id } = await says("STOP");
    await clock.settle();
    await one.contacts.erase(contact_id);
    expect(await outcome(one.messages.send(hello))).toBe("recipient_opted_out");
    expect(await one.messages.preview(hello)).toMatchObject({
      consent: "opted_out",
      sendable: false,
    });
    const again = await one.contacts.create({ phone, name: "Somebody new" });
    expect(again.opted_out).toBe(true);
    await one.contacts.update(again.id, { phone: null });
    await one.contacts.update(again.id, { phone });
    expect(await outcome(one.messages.send({ to: again.id, body: "Hello" }))).toBe(
      "recipient_opted_out",
    );
    // Another account and the other mode are not affected.
    const { account } = await one.accounts.create({ name: "Another" });
    expect(await outcome(one.account(account.id, { mode: "sandbox" }).messages.send(hello))).toBe(
      "done",
    );
  });

  it("is not changed by keywords in webchat", async () => {
    const line = carrier({
      name: "chat",
      modes: ["live"],
      channels: ["webchat"],
      receipts: "none",
    });
    const { one, clock, events } = await opened({ mode: "live" }, line);
    await one.senders.create({ address: "inbox", channels: ["webchat"], transport: "chat" });
    const inbound = { channel: "webchat", from: "visitor", to: "inbox", media: [], at: 0 } as const;
    await line.sink().inbound({ ...inbound, provider_message_id: "1", body: "STOP" });
    await line
      .sink()
      .inbound({ ...inbound, provider_message_id: "2", body: "please stop texting me" });
    await clock.settle();
    const { data } = await one.messages.list();
    expect(data.map(({ direction, opt_out_suspected }) => [direction, opt_out_suspected])).toEqual([
      ["inbound", false],
      ["inbound", false],
    ]);
    expect(events).toEqual([]);
    const { contact_id = "" } = data[0] ?? {};
    await one.contacts.setConsent(contact_id, "webchat", { status: "opted_out" });
    expect(
      await outcome(one.messages.send({ to: contact_id, channel: "webchat", body: "Hi" })),
    ).toBe("recipient_opted_out");
  });

  it("cannot be set for a contact without an address", async () => {
    const { one } = await opened();
    const { id } = await one.contacts.create({ name: "Nobody", phone });
    expect(await outcome(one.contacts.setConsent(id, "webchat", { status: "opted_out" }))).toBe(
      "validation_failed",
    );
    expect(await outcome(one.contacts.setConsent(id, "all", { status: "opted_out" }))).toBe("done");
    expect(
      await outcome(one.contacts.setConsent("ct_nobody", "all", { status: "opted_out" })),
    ).toBe("not_found");
  });
});
