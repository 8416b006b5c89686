import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import { agentSessions } from "../../../src/agents/rows.ts";
import { runs as runRows } from "../../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { jobs } from "../../../src/queue/jobs/rows.ts";
import { world } from "../../support/engines/world.ts";
import { outcome } from "../../support/outcome.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { lookUp } from "../actions.ts";
import { agency } from "../world.ts";

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
