import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { agentSessions, agentTriggers } from "../../../src/agents/rows.ts";
import { jobs } from "../../../src/queue/jobs/rows.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import { runs as runRows } from "../../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { rowsOf, tablesWith } from "../../support/storage/rows.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { world } from "../../support/engines/world.ts";
import { agency, visitor } from "../world.ts";
import { outcome } from "../../support/outcome.ts";
import { actionOf } from "../actions.ts";

const phone = "+15005551001";
const greeting = {
  name: "Greet",
  enabled: true,
  slots: [{ name: "seats", type: "number", required: true, prompt: "How many?" }],
  steps: [
    { id: "ask", type: "ask", slot: "seats" },
    { id: "greet", type: "send", text: "A table for {{seats}}." },
  ],
} satisfies CreatePlaybook;

/** An agent can be enabled only if the engine has a model. */
const thinking = { agents: { model: () => ({}) } };

async function staffed(engine: MessagingEngine) {
  const { id: playbook_id } = await engine.playbooks.create(greeting);
  const { id: agent } = await engine.agents.create({
    name: "Ada",
    channels: ["mms"],
    playbook_ids: [playbook_id],
  });
  return { agent, playbook_id };
}

describe.each(lightStorages)("a trigger on $name", ({ open }) => {
  it("makes one run per idempotency key across engines, and gives the agent the conversation", async () => {
    const ground = open();
    const port = ground.connect();
    const { engine } = world();
    const [one, two] = [engine(port, thinking), engine(ground.connect(), thinking)];
    const { agent, playbook_id } = await staffed(one);
    const { id: contact_id } = await one.contacts.create({ phone });
    const ask = (by: MessagingEngine) =>
      by.agents.trigger(
        agent,
        { contact_id, playbook_id, input: { seats: "four" } },
        { idempotencyKey: "k" },
      );
    const [run, again] = await Promise.all([ask(one), ask(two)]);
    expect(again).toEqual(run);
    expect(await two.agents.run(agent, run.id)).toEqual(run);
    const trigger = { type: "api", message_ids: [] };
    expect(run).toMatchObject({
      agent_id: agent,
      agent_version: 1,
      playbook_id,
      trigger,
      status: "running",
      steps: [],
    });
    const { id, ...conversation } = await one.conversations.get(run.conversation_id ?? "");
    expect(conversation).toMatchObject({
      medium: "text",
      handler: "ai",
      assignee: { type: "agent", id: agent },
    });
    expect(await rowsOf(port, runRows)).toMatchObject([
      { id: run.id, open: true, request: { playbook_id, slots: { seats: 4 } } },
    ]);
    expect(await rowsOf(port, agentSessions)).toMatchObject([
      { conversation_id: id, agent_id: agent, heard_through: 0 },
    ]);
    expect((await rowsOf(port, jobs)).filter(({ kind }) => kind === "turn")).toMatchObject([
      { key: id },
    ]);
  });

  it("leaves no run or session if its contact is erased at the same time", async () => {
    const ground = open();
    const port = ground.connect();
    const { engine } = world();
    const [one, two] = [engine(port, thinking), engine(ground.connect(), thinking)];
    const { agent, playbook_id } = await staffed(one);
    for (let round = 0; round < 8; round++) {
      const { id: contact_id } = await one.contacts.create({ phone });
      if (round % 2 === 0) {
        const { id } = await one.conversations.open({ to: contact_id });
        await one.conversations.assign(id, { type: "agent", id: agent });
      }
      const trigger = () =>
        one.agents.trigger(agent, { contact_id, playbook_id }, { idempotencyKey: `k${round}` });
      const erase = () => two.contacts.erase(contact_id);
      await Promise.allSettled(
        (round % 4 < 2 ? [trigger, erase] : [erase, trigger]).map((act) => act()),
      );
      expect([await rowsOf(port, runRows), await rowsOf(port, agentSessions)]).toEqual([[], []]);
    }
  });
});

describe("a trigger", () => {
  async function office() {
    const { clock, engine } = world();
    const one = engine(memory(), { agents: { model: () => ({}), actions: [lookUp()] } });
    const { agent, playbook_id } = await staffed(one);
    return { clock, one, agent, playbook_id, own: one.conversations };
  }

  it("uses the contact's most recently active conversation, or opens a new text conversation", async () => {
    const { clock, one, agent, playbook_id, own } = await office();
    const { id: contact_id } = await one.contacts.create({ phone });
    const where = async (): Promise<string> =>
      (await one.agents.trigger(agent, { contact_id, playbook_id })).conversation_id ?? "";
    const first = await where();
    expect(await own.get(first)).toMatchObject({ medium: "text", message_count: 0 });
    await clock.advance(1_000);
    expect(await where()).toBe(first);
    await own.update(first, { status: "closed" });
    const second = await where();
    expect(second).not.toBe(first);

    await clock.advance(1_000);
    await one.webchat.open({ contact_id });
    const { id: chat } = await own.open({ to: contact_id, medium: "webchat" });
    expect(await where()).toBe(chat);
    await clock.advance(1_000);
    await one.messages.send({ to: phone, body: "Hello" });
    expect(await where()).toBe(second);
    const { id: other } = await one.contacts.create({ phone: "+15005551002" });
    await one.contacts.merge(contact_id, other);
    const run = await one.agents.trigger(agent, { contact_id: other, playbook_id });
    expect(run.conversation_id, "a merged contact resolves to its survivor").toBe(second);
  });

  it("rejects invalid input with a pointer and changes nothing", async () => {
    const { one, agent, playbook_id, own } = await office();
    const { id: contact_id } = await one.contacts.create({ phone });
    const { id: nowhere } = await one.contacts.create({ name: "Bo" });
    const { id: conversation_id } = await own.open({ to: phone });
    const { id: draft } = await one.playbooks.create({ ...greeting, enabled: false });
    const never = "01JZZZZZZZZZZZZZZZZZZZZZZZ";
    const wrong: readonly (readonly [Parameters<typeof one.agents.trigger>[1], string])[] = [
      [{ playbook_id }, "/contact_id"],
      [{ contact_id, conversation_id, playbook_id }, "/contact_id"],
      [{ contact_id }, "/playbook_id"],
      [{ contact_id, playbook_id, action: "look_up" }, "/playbook_id"],
      [{ contact_id: `ct_${never}`, playbook_id }, "/contact_id"],
      [{ contact_id: nowhere, playbook_id }, "/contact_id"],
      [{ conversation_id: `conv_${never}`, playbook_id }, "/conversation_id"],
      [{ contact_id, playbook_id: `pb_${never}` }, "/playbook_id"],
      [{ contact_id, action: "unknown" }, "/action"],
      [{ contact_id, playbook_id, input: [4] }, "/input"],
      [{ contact_id, playbook_id, input: { seats: "many" } }, "/input/seats"],
      [{ contact_id, playbook_id, input: { "a/b": 4 } }, "/input/a~1b"],
      [{ contact_id, action: "look_up", input: "x".repeat(16_384) }, "/input"],
    ];
    for (const [input, pointer] of wrong) {
      await expect(one.agents.trigger(agent, input), JSON.stringify(input)).rejects.toMatchObject({
        code: "validation_failed",
        errors: [expect.objectContaining({ pointer })],
      });
    }
    expect(await outcome(one.agents.trigger(agent, { contact_id, playbook_id: draft }))).toBe(
      "conflict",
    );
    expect((await own.get(conversation_id)).handler).toBe("none");
    expect((await one.agents.runs(agent)).data).toEqual([]);
  });

  it("conflicts if people or another agent handle the conversation or it is closed; actions run beside people", async () => {
    const { one, agent, playbook_id, own } = await office();
    const { id: conversation_id } = await own.open({ to: phone });
    const playbook = () => outcome(one.agents.trigger(agent, { conversation_id, playbook_id }));
    const errand = () =>
      outcome(one.agents.trigger(agent, { conversation_id, action: "look_up", input: {} }));
    await own.assign(conversation_id, { type: "human", id: "anna" });
    expect([await playbook(), await errand()]).toEqual(["conflict", "done"]);
    expect(await own.get(conversation_id)).toMatchObject({
      handler: "human",
      assignee: { id: "anna" },
    });
    const { id: other } = await one.agents.create({ name: "Bo", channels: ["sms"] });
    await own.assign(conversation_id, { type: "agent", id: other });
    expect([await playbook(), await errand()]).toEqual(["conflict", "conflict"]);
    await own.handOff(conversation_id, { reason: "asked for it" });
    expect([await playbook(), await errand()], "a hand-back would go to Bo").toEqual([
      "conflict",
      "conflict",
    ]);
    await own.assign(conversation_id, { type: "agent", id: agent });
    expect([await playbook(), await errand()]).toEqual(["done", "done"]);
    await one.agents.update(agent, { enabled: false });
    expect([await playbook(), await errand()]).toEqual(["conflict", "conflict"]);
    await one.agents.update(agent, { enabled: true });
    await own.update(conversation_id, { status: "closed" });
    expect([await playbook(), await errand()]).toEqual(["conflict", "conflict"]);
  });

  it("plays a playbook that the agent does not list, with the given input", async () => {
    const { engine, agent, ask, pass, replies, conversation } = await agency(memory());
    await ask("Hello");
    const { id: playbook_id } = await engine.playbooks.create(greeting);
    const { id: conversation_id } = await conversation();
    const order = (input: Record<string, string>) =>
      engine.agents.trigger(agent.id, { conversation_id, playbook_id, input });
    const run = await order({ seats: "four" });
    await pass();
    await order({});
    await pass();
    expect(await ask("five")).toEqual(["A table for 5."]);
    expect((await replies()).slice(1, -1)).toEqual(["A table for 4.", "How many?"]);
    expect(await engine.agents.run(agent.id, run.id)).toMatchObject({
      status: "completed",
      playbook_id,
    });
  });
});

/** An action that returns its input. */
function lookUp(risk: "read" | "approval" = "read", done: unknown[] = []) {
  return actionOf({
    name: "look_up",
    input: z.looseObject({}),
    risk,
    execute: (input) => {
      done.push(input);
      return { found: JSON.stringify(input) };
    },
  });
}

describe("an action that waits for approval", () => {
  async function waiting() {
    const done: unknown[] = [];
    const storage = memory();
    const there = await agency(storage, { actions: [lookUp("approval", done)] });
    await there.say("Hello");
    await there.pass();
    const { id: conversation_id } = await there.conversation();
    const asked = { conversation_id, action: "look_up", input: { order: "zebulon" } };
    const run = await there.engine.agents.trigger(there.agent.id, asked, {
      idempotencyKey: "trigger",
    });
    await there.pass();
    const own = there.engine.agents;
    const approve = (decision: "approve" | "deny", key = decision as string) =>
      own.approve(there.agent.id, run.id, { decision, author_id: "anna" }, { idempotencyKey: key });
    return { ...there, storage, done, run, own, approve, conversation_id };
  }

  it("is called once when its own run is approved", async () => {
    const { engine, agent, done, run, own, approve, pass } = await waiting();
    expect(await own.run(agent.id, run.id)).toMatchObject({ status: "awaiting_approval" });
    const other = await engine.agents.create({ name: "Bo", channels: ["sms"] });
    expect(await outcome(own.approve(other.id, run.id, { decision: "approve" }))).toBe("not_found");
    expect(await approve("approve")).toMatchObject({
      status: "running",
      steps: [
        {},
        { type: "approval", name: "look_up", input: { author_id: "anna" }, output: "approve" },
      ],
    });
    await pass();
    expect(done).toEqual([{ order: "zebulon" }]);
    expect(await own.run(agent.id, run.id)).toMatchObject({
      status: "completed",
      result: { found: '{"order":"zebulon"}' },
    });
    expect(await outcome(approve("approve", "again"))).toBe("conflict");
    expect(await outcome(approve("approve")), "the same request").toBe("done");
  });

  it("is not called if it is denied or not approved in time", async () => {
    const { agent, done, run, own, approve, pass } = await waiting();
    await approve("deny");
    await pass();
    expect(await own.run(agent.id, run.id)).toMatchObject({
      status: "failed",
      result: { error: "denied" },
    });
    const late = await waiting();
    late.world.clock.step(86_400_000);
    expect(await outcome(late.approve("approve"))).toBe("conflict");
    expect([done, late.done]).toEqual([[], []]);
  });

  it("is deleted with an erased contact: run, session and stored response", async () => {
    const { engine, storage, run, agent, own, approve, pass, conversation } = await waiting();
    await approve("approve");
    await pass();
    const words = ["zebulon", visitor];
    expect(await tablesWith(storage, ["zebulon"])).toEqual(
      expect.arrayContaining(["runs: zebulon", "events: zebulon"]),
    );
    await engine.contacts.erase((await conversation()).contact.id);
    expect(await tablesWith(storage, words)).toEqual([]);
    expect([await rowsOf(storage, runRows), await rowsOf(storage, agentSessions)]).toEqual([
      [],
      [],
    ]);
    expect(await outcome(own.run(agent.id, run.id))).toBe("not_found");
    expect(await outcome(approve("approve"))).toBe("erased");
  });

  it("is deleted with its agent when the sandbox is reset", async () => {
    const { engine, storage, agent, own, approve } = await waiting();
    await engine.sandbox.reset();
    for (const left of [runRows, agentSessions, agentTriggers]) {
      expect([left.name, await rowsOf<object>(storage, left)]).toEqual([left.name, []]);
    }
    expect(await outcome(own.get(agent.id))).toBe("not_found");
    expect(await outcome(approve("approve"))).toBe("not_found");
  });
});

describe("a message that an agent has read", () => {
  it("is redacted in the agent's runs, their events and deliveries, once the runs have ended", async () => {
    const storage = memory();
    const client = { send: () => Promise.reject(new Error("nobody is there")), close() {} };
    const { engine, agent, say, ask, thread, conversation } = await agency(storage, {
      options: { http: { client } },
      actions: [lookUp("read"), { ...lookUp("approval"), name: "refund" }],
      model: ({ calls, messages }) => {
        const said = messages.at(-1)?.text ?? "";
        const wish = said.includes("back") ? "refund" : "look_up";
        return calls.length === 0
          ? { calls: [{ action: wish, input: { said } }] }
          : { text: "Thank you!" };
      },
    });
    await engine.webhooks.create({ url: "https://example.com/hooks", events: ["*"] });
    await ask("My card is 4000 zebulon");
    await ask("And nothing else");
    const [message] = await thread();
    const tables = ["deliveries", "events", "message_words", "messages", "runs"];
    const told = tables.map((table) => `${table}: zebulon`);
    expect((await tablesWith(storage, ["zebulon"])).toSorted()).toEqual(told);

    await say("I want it back");
    expect(await outcome(engine.messages.redact(message?.id ?? "")), "no turn has begun yet").toBe(
      "done",
    );
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
    const { data } = await engine.agents.runs(agent.id);
    expect(data.at(-1)).toMatchObject({
      status: "completed",
      steps: [
        { type: "model", output: null },
        { type: "action", name: "look_up", input: null, output: null },
        { type: "model", output: null },
      ],
      usage: { model_calls: 2 },
    });
    const { data: events } = await engine.events.list({ type: "agent.run.completed" });
    expect(events.at(-1)?.data).toEqual({ run: data.at(-1) });

    await ask("Now!");
    const last = (await thread()).findLast(({ direction }) => direction === "inbound");
    await ask("I want it back");
    const [open] = (await engine.agents.runs(agent.id, { status: "awaiting_approval" })).data;
    await expect(engine.messages.redact(last?.id ?? "")).rejects.toMatchObject({
      code: "conflict",
      conflictingId: open?.id,
    });
    await engine.agents.approve(agent.id, open?.id ?? "", { decision: "deny" });
    expect((await conversation()).handler).toBe("ai");
  });

  it("is redacted in a run that answered more messages than its history shows", async () => {
    const storage = memory();
    const { engine, say, pass, thread } = await agency(storage, {
      agent: {
        handoff: {
          rules: [{ on: "keyword", value: ["zebulon"] }],
          on_no_humans: "leave_message",
        },
      },
    });
    await say("My card is 4000 zebulon");
    for (let i = 0; i < 35; i++) await say(`And ${i}`);
    await pass(600_000);
    const event = async () => (await engine.events.list({ type: "conversation.handoff" })).data;
    expect(JSON.stringify(await event())).toContain("zebulon");
    const first = (await thread()).find(({ body }) => body?.includes("zebulon"));
    await engine.messages.redact(first?.id ?? "");
    expect(JSON.stringify(await event())).not.toContain("zebulon");
  });
});

describe("a conversation that is assigned to an agent", () => {
  it("gets an answer to its unanswered messages only", async () => {
    const { engine, agent, say, pass, replies, conversation } = await agency(memory(), {
      agent: { channels: ["webchat"] },
    });
    const { assign, reply, handBack } = engine.conversations;
    await say("One");
    const { id } = await conversation();
    await engine.messages.send({ to: visitor, body: "We will see." });
    await assign(id, { type: "agent", id: agent.id });
    await pass();
    expect(await replies(), "the host application has answered").toEqual([]);
    await say("Two");
    await pass();
    expect(await replies()).toEqual(["You said: Two"]);

    await say("Three");
    await reply(id, { body: "This is Anna.", author_id: "anna" });
    await assign(id, { type: "human", id: "anna" });
    await handBack(id);
    await pass();
    expect(await replies(), "Anna has answered").toHaveLength(1);
    expect(await conversation()).toMatchObject({
      handler: "ai",
      assignee: { type: "agent", id: agent.id },
    });
    await assign(id, { type: "human", id: "anna" });
    await say("Four");
    await pass();
    expect(await replies()).toHaveLength(1);
    await handBack(id);
    await pass();
    expect(await replies()).toEqual(["You said: Two", "You said: Four"]);
    const { data } = await engine.agents.runs(agent.id, { limit: 1 });
    expect(data).toMatchObject([{ trigger: { type: "handback" } }]);

    await assign(id, { type: "human", id: "anna" });
    await engine.agents.remove(agent.id);
    expect(await handBack(id), "its agent is gone").toMatchObject({
      handler: "none",
      assignee: null,
    });
  });
});
