/** To which of a contact's addresses an answer goes. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { actionOf } from "../actions.ts";
import { agency, visitor, type Agency } from "../world.ts";

describe("a contact with two numbers", () => {
  const second = "+15005550102";

  async function mergedContact({ contacts }: MessagingEngine) {
    const kept = await contacts.create({ phone: visitor });
    const merged = await contacts.create({ phone: second });
    return contacts.merge(kept.id, merged.id);
  }

  test.each<[string, (agency: Agency) => Promise<unknown>]>([
    ["texts STOP from the other one", ({ say }) => say("STOP", second)],
    [
      "gets a message of the host application at the other one",
      ({ engine }) => engine.messages.send({ to: second, body: "See you at four." }),
    ],
  ])("gets the answer at the one that asked, though it %s", async (_, act) => {
    const there = await agency(memory(), { model: () => ({ text: "From noon to ten." }) });
    const { engine, say, pass } = there;
    const { id } = await mergedContact(engine);
    await say("Are you open?");
    await act(there);
    await pass();
    const { data } = await engine.messages.list({ contact_id: id, direction: "outbound" });
    const answers = data.filter(({ author }) => author.type === "agent");
    expect(answers).toMatchObject([{ to: visitor, body: "From noon to ten." }]);
  });

  test("gets the answer at the one that has not opted out, though the other one writes last", async () => {
    const { engine, say, pass, runs } = await agency(memory());
    const { id } = await mergedContact(engine);
    await say("STOP", second);
    await say("Are you open?");
    await say("Are you open?", second);
    await pass();
    const { data } = await engine.messages.list({
      contact_id: id,
      direction: "outbound",
      limit: 1,
    });
    expect(data).toMatchObject([{ to: visitor, body: "You said: Are you open?" }]);
    expect(await runs()).toMatchObject([{ status: "completed" }]);
  });

  test("hears of an approved action at the one that has not opted out, too", async () => {
    const pay = actionOf({
      name: "pay_out",
      input: z.object({}),
      risk: "approval",
    });
    const { engine, say, pass, runs, agent } = await agency(memory(), {
      actions: [pay],
      model: ({ calls: [call] }) =>
        call === undefined
          ? { calls: [{ action: pay.name, input: {} }] }
          : { text: call.outcome.status },
    });
    const { id } = await mergedContact(engine);
    await say("STOP", second);
    await say("Pay me");
    await pass();
    await say("Hello?", second);
    const [run] = await runs();
    await engine.agents.approve(agent.id, run?.id ?? "", { decision: "approve" });
    await pass();
    const { data } = await engine.messages.list({ contact_id: id, direction: "outbound" });
    const answers = data.filter(({ author }) => author.type === "agent");
    expect(answers).toMatchObject([
      { to: visitor, body: "done" },
      { to: visitor, body: "awaiting_approval" },
    ]);
    expect(await runs()).toMatchObject([{ status: "completed" }]);
  });

  test("gets a person's reply at the one that wrote last, apart from opt-outs", async () => {
    const { engine, say } = await agency(memory());
    await mergedContact(engine);
    await say("Hello");
    const { conversation_id } = await say("Hello?", second);
    const reply = () => engine.conversations.reply(conversation_id, { body: "Hello!" });
    expect(await reply()).toMatchObject({ to: second });
    await say("STOP");
    await say("STOP!!");
    expect(await reply()).toMatchObject({ to: second });
    await say("stop", second);
    await expect(reply()).rejects.toMatchObject({ code: "recipient_opted_out" });
  });
});

test("a contact that wrote last to a sender that it has opted out of gets no turn", async () => {
  const { engine, say, pass, runs, seen } = await agency(memory(), {
    options: { consent: { scope: "sender" } },
  });
  const to = "+15005550009";
  await engine.senders.create({ address: to, channels: ["sms"], transport: "sandbox" });
  await say("Are you open?");
  for (const body of ["STOP", "Are you open?"]) {
    await engine.sandbox.inbound({ from: visitor, to, body });
  }
  await pass();
  expect(seen).toEqual([]);
  expect(await runs()).toEqual([]);
});

describe("with consent by sender, an agent", () => {
  const own = "+15005559999";
  const second = "+15005550009";

  async function asked(from: string, at: string) {
    const there = await agency(memory(), {
      model: () => ({ text: "From noon to ten." }),
      options: { consent: { scope: "sender" } },
    });
    const { engine } = there;
    await engine.senders.create({ address: second, channels: ["sms"], transport: "sandbox" });
    const say = (to: string, body: string) => engine.sandbox.inbound({ from: visitor, to, body });
    await say(at, "Are you open?");
    await engine.messages.send({ to: visitor, from, body: "We have moved." });
    return { ...there, say };
  }

  test("answers from the number that was asked, after an opt-out from another that wrote since", async () => {
    const { say, pass, thread, runs } = await asked(own, second);
    await say(own, "STOP");
    await pass();
    expect(await runs()).toMatchObject([{ status: "completed" }]);
    const answers = (await thread()).filter(({ author }) => author.type === "agent");
    expect(answers).toMatchObject([{ from: second, body: "From noon to ten." }]);
  });

  test.each([
    ["has opted out of the other one", "STOP"],
    ["was answered from the other one", "When?"],
  ])(
    "sends all texts of a triggered run from the number that the contact saw last, also if the contact %s",
    async (_, last) => {
      const pay = actionOf({
        name: "pay_out",
        input: z.object({}),
        risk: "approval",
        execute: () => ({ sum: 7 }),
      });
      const { engine, agent, pass, runs, thread } = await agency(memory(), {
        actions: [pay],
        playbooks: [
          {
            name: "Refund",
            steps: [
              { id: "ask", type: "send", text: "One moment." },
              { id: "pay", type: "run", action: pay.name, args: {} },
              { id: "tell", type: "send", text: "You get {{pay.sum}}." },
            ],
          },
        ],
        options: { consent: { scope: "sender" } },
      });
      await engine.senders.create({ address: second, channels: ["sms"], transport: "sandbox" });
      const { contact_id } = await engine.sandbox.inbound({
        from: visitor,
        to: own,
        body: "Hello",
      });
      await pass();
      await engine.sandbox.inbound({ from: visitor, to: own, body: last });
      await pass();
      await engine.messages.send({ to: visitor, from: second, body: "We have moved." });
      const [playbook_id = ""] = agent.playbook_ids;
      const { id } = await engine.agents.trigger(agent.id, { contact_id, playbook_id });
      await pass();
      await engine.agents.approve(agent.id, id, { decision: "approve" });
      await pass();
      expect((await runs()).at(-1)).toMatchObject({ status: "completed" });
      expect((await thread()).slice(-2)).toMatchObject([
        { from: second, body: "One moment." },
        { from: second, body: "You get 7." },
      ]);
    },
  );

  test("answers from the number that the contact saw last if the one it wrote to can no longer send", async () => {
    const last = "+15005550010";
    const { engine, pass, thread } = await asked(own, second);
    await engine.senders.create({ address: last, channels: ["sms"], transport: "sandbox" });
    await engine.messages.send({ to: visitor, from: last, body: "We have moved again." });
    const { data } = await engine.senders.list();
    const { id = "" } = data.find(({ address }) => address === second) ?? {};
    await engine.senders.update(id, { channels: ["mms"] });
    await pass();
    const answers = (await thread()).filter(({ author }) => author.type === "agent");
    expect(answers).toMatchObject([{ from: last, body: "From noon to ten." }]);
  });

  test("does not answer from another number after an opt-out from the one that was asked", async () => {
    const { say, pass, thread, runs } = await asked(second, own);
    await say(own, "STOP");
    await pass();
    expect(await runs()).toEqual([]);
    expect((await thread()).filter(({ author }) => author.type === "agent")).toEqual([]);
  });
});
