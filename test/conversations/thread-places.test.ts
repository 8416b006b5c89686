/** Where a message that was written for later stands in the thread of its conversation. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import { agency } from "../agents/world.ts";
import { accepted, busy, carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const phone = "+15005551001";
const hour = 3_600_000;
/** How long messages wait. */
const pause = 600_000;

const threadOf = async ({ conversations }: MessagingEngine, id: string) =>
  (await conversations.messages(id)).data.map(({ body }) => body).toReversed();

describe.each(lightStorages)("a message for later on $name", ({ open }) => {
  it("stands after all others until it is sent, and then where it was sent", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { conversation_id: id } = await one.sandbox.inbound({ from: phone, body: "1" });
    const at = (pauses: number): string => new Date(clock.now() + pauses * pause).toISOString();
    const [late, soon] = [at(2), at(1)];
    const later = await one.messages.send({ to: phone, body: "4", send_at: late });
    const reminder = await one.messages.send({ to: phone, body: "3", send_at: soon });
    await one.messages.send({ to: phone, body: "2" });
    await clock.settle();
    expect(await threadOf(one, id)).toEqual(["1", "2", "4", "3"]);
    expect([later.placed_at, reminder.placed_at]).toEqual([null, null]);

    await clock.advance(pause);
    await one.sandbox.inbound({ from: phone, body: "Thanks" });
    expect(await threadOf(one, id)).toEqual(["1", "2", "3", "Thanks", "4"]);
    expect(await one.messages.get(reminder.id)).toMatchObject({ placed_at: soon });
    await clock.advance(pause);
    expect(await threadOf(one, id)).toEqual(["1", "2", "3", "Thanks", "4"]);
    expect(await one.conversations.get(id)).toMatchObject({
      message_count: 5,
      last_message: { id: later.id, placed_at: late, status: "sent" },
    });
  });

  it("raises its conversation in the inbox when it is sent, but not when it is canceled", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const send_at = new Date(clock.now() + pause).toISOString();
    const reminder = { to: phone, body: "Until today", send_at };
    const { conversation_id: ann } = await one.messages.send(reminder);
    const { id: dropped } = await one.messages.send(reminder);
    await clock.advance(1_000);
    const from = "+15005551002";
    const { conversation_id: bob } = await one.sandbox.inbound({ from, body: "Hi" });
    const listed = async () => (await one.conversations.list()).data.map(({ id }) => id);
    await clock.advance(1_000);
    await one.messages.cancel(dropped);
    expect(await listed()).toEqual([bob, ann]);
    await clock.advance(pause);
    expect(await listed()).toEqual([ann, bob]);
  });

  it("that is sent in a conversation that a newer one has replaced is the contact's last message", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const send_at = new Date(clock.now() + pause).toISOString();
    const reminder = { to: phone, body: "See you", send_at };
    const { conversation_id, contact_id } = await one.messages.send(reminder);
    await one.conversations.update(conversation_id, { status: "closed" });
    await one.conversations.open({ to: phone });
    await clock.advance(pause);
    expect((await one.contacts.get(contact_id)).last_message_at).toBe(send_at);
  });

  it("stands where it was canceled", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { conversation_id: id } = await one.sandbox.inbound({ from: phone, body: "1" });
    const send_at = new Date(clock.now() + pause).toISOString();
    const dropped = await one.messages.send({ to: phone, body: "3", send_at });
    await one.sandbox.inbound({ from: phone, body: "2" });
    expect(await one.messages.cancel(dropped.id)).toMatchObject({ status: "canceled" });
    await one.sandbox.inbound({ from: phone, body: "4" });
    expect(await threadOf(one, id)).toEqual(["1", "2", "3", "4"]);
  });

  it("stands where it was sent if quiet hours deferred it", async () => {
    const { clock, started } = world();
    const now = new Date(clock.now()).getUTCHours();
    const at = (hours: number): string => `${String(hours % 24).padStart(2, "0")}:00`;
    const one = await started(open().connect(), { quietHours: { from: at(now), to: at(now + 2) } });
    const { conversation_id: id } = await one.sandbox.inbound({ from: phone, body: "1" });
    await one.messages.send({ to: phone, body: "3", category: "marketing" });
    await one.messages.send({ to: phone, body: "4", category: "marketing" });
    await clock.settle();
    await one.sandbox.inbound({ from: phone, body: "2" });
    await clock.advance(2 * hour);
    await one.sandbox.inbound({ from: phone, body: "5" });
    expect(await threadOf(one, id)).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("keeps its place if its turn comes when no policy defers it any more", async () => {
    const { clock, started } = world();
    const until = clock.now() + 60_000;
    const line = carrier({
      send: ({ body }, attempt) =>
        body === "1" && attempt.number === 1 ? busy(120_000) : accepted(attempt),
    });
    const one = await started(open().connect(), {
      transports: [line],
      policies: [
        {
          name: "not_yet",
          evaluate: ({ message, now }) =>
            message.body === "2" && now < until
              ? { verdict: "defer", until, reason: "It is early." }
              : { verdict: "allow" },
        },
      ],
    });
    const { conversation_id: id } = await one.messages.send({ to: phone, body: "1" });
    await clock.settle();
    await one.messages.send({ to: phone, body: "2" });
    await one.messages.send({ to: phone, body: "3" });
    await clock.advance(180_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["1", "1", "2", "3"]);
    expect(await threadOf(one, id)).toEqual(["1", "2", "3"]);
  });

  it("is not among the last messages of a hand-off before it is sent", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { conversation_id: id, id: asked } = await one.sandbox.inbound({
      from: phone,
      body: "1",
    });
    const send_at = new Date(clock.now() + pause).toISOString();
    const ids = [asked];
    for (let n = 2; n <= 12; n++) {
      ids.push((await one.messages.send({ to: phone, body: `${n}` })).id);
      await one.messages.send({ to: phone, body: "Later", send_at });
    }
    const last: unknown[] = [];
    one.on("conversation.handoff", ({ data }) => void last.push(data.last_message_ids));
    await one.conversations.handOff(id, { reason: "The contact is angry." });
    await clock.settle();
    expect(last).toEqual([ids.slice(-10)]);
  });

  it("is among the visitor's newest messages when it arrives", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const { id, contact_id: to } = await one.webchat.open({ name: "Ann" });
    const send_at = new Date(clock.now() + pause).toISOString();
    await one.messages.send({ to, channel: "webchat", body: "Reminder", send_at });
    for (const body of ["1", "2", "3"]) {
      await one.webchat.sendAsVisitor(id, { body });
      await clock.advance(1_000);
    }
    await clock.advance(pause);
    const first = await one.webchat.messages(id, { limit: 2 });
    expect(first.data).toMatchObject([{ body: "Reminder", placed_at: send_at }, { body: "3" }]);
    const cursor = first.next_cursor ?? expect.fail("there is no second page");
    const { data } = await one.webchat.messages(id, { cursor });
    expect(data.map(({ body }) => body)).toEqual(["2", "1"]);
  });
});

describe.each(lightStorages)("a person's reply that a policy has deferred on $name", ({ open }) => {
  const later = "We open at nine.";

  it("does not answer what the contact asks before it is sent", async () => {
    const here = world();
    const until = here.clock.now() + pause;
    let told: number | undefined;
    const {
      engine,
      world: own,
      say,
      pass,
      replies,
      conversation,
    } = await agency(open().connect(), {
      model: ({ messages }) => {
        told = messages.find(({ text }) => text === later)?.at;
        return { text: `You asked: ${messages.findLast(({ from }) => from === "contact")?.text}` };
      },
      agent: { handoff: { rules: [] } },
      options: {
        policies: [
          {
            name: "not_yet",
            evaluate: ({ message, now }) =>
              message.body === later && now < until
                ? { verdict: "defer", until, reason: "It is early." }
                : { verdict: "allow" },
          },
        ],
      },
    });
    await say("When do you open?");
    const { id } = await conversation();
    await engine.conversations.reply(id, { body: later });
    await pass();
    await say("And on Sunday?");
    await own.clock.advance(pause);
    expect(await threadOf(engine, id)).toEqual(["When do you open?", "And on Sunday?", later]);
    await engine.conversations.handBack(id);
    await pass();
    expect(await replies()).toEqual(["You asked: And on Sunday?"]);
    expect(told).toBe(until);
  });
});
