/** What a contact has asked, behind more messages than a turn answers. */
import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { maxUnanswered } from "../../../src/agents/handling/answered-messages.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { ModelAnswer, ModelTurn } from "../../../src/ports/agent-model.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { agency, visitor } from "../world.ts";

/** The host application sends more messages than a turn reads. */
async function sendMany(engine: MessagingEngine, send_at?: string): Promise<void> {
  const when = send_at === undefined ? {} : { send_at };
  for (let i = 0; i <= maxUnanswered; i++) {
    await engine.messages.send({ to: visitor, body: `Notice ${i}`, ...when });
  }
}

/** Repeats the contact's last message that it sees. */
const model = ({ messages }: ModelTurn): ModelAnswer => ({
  text: `You said: ${messages.findLast(({ from }) => from === "contact")?.text}`,
});

describe.each(lightStorages)("behind many messages of the host, on $name", ({ open }) => {
  const agent = { reply: { debounce_ms: 10_000 }, handoff: { rules: [] } };

  it("the agent answers the contact's messages before and between them", async () => {
    const { engine, say, pass, replies, runs } = await agency(open().connect(), { model, agent });
    const first = await say("Do you open on Sunday?");
    await sendMany(engine);
    const second = await say("Until when?");
    await sendMany(engine);
    await pass(60_000);
    expect(await replies()).toEqual(["You said: Until when?"]);
    expect(await runs()).toMatchObject([
      { status: "completed", trigger: { message_ids: [first.id, second.id] } },
    ]);
  });

  it("the agent answers what a person leaves to it, and not what the person has answered", async () => {
    const { engine, say, ask, pass, replies, conversation } = await agency(open().connect(), {
      model,
      agent,
    });
    expect(await ask("Good morning")).toEqual(["You said: Good morning"]);
    const { id } = await conversation();
    await engine.conversations.handOff(id, { reason: "A person looks." });
    await say("Do you open on Sunday?");
    await engine.conversations.reply(id, { body: "Yes.", author_id: "eve" });
    await sendMany(engine);
    await engine.conversations.handBack(id);
    await pass();
    expect(await replies(), "the person has answered").toHaveLength(1);

    await engine.conversations.handOff(id, { reason: "A person looks." });
    await say("Until when?");
    await sendMany(engine);
    await engine.conversations.handBack(id);
    await pass();
    expect((await replies()).at(-1)).toBe("You said: Until when?");
  });

  it("the agent knows what was said before messages that were not sent", async () => {
    const { engine, world, ask, seen } = await agency(open().connect(), { model, agent });
    await ask("I am Kim.");
    await sendMany(engine, new Date(world.clock.now() + 86_400_000).toISOString());
    await ask("Who am I?");
    const texts = seen.at(-1)?.messages.map(({ text }) => text);
    expect(texts).toEqual(["I am Kim.", "You said: I am Kim.", "Who am I?"]);
  });

  it("a new agent answers what waits behind scheduled messages", async () => {
    const {
      engine,
      world,
      say,
      pass,
      agent: ada,
      replies,
      conversation,
    } = await agency(open().connect(), { model, agent: { ...agent, enabled: false } });
    await say("Are you there?");
    await engine.messages.send({ to: visitor, body: "Yes." });
    const { created_at } = await say("Do you open on Sunday?");
    await sendMany(engine, new Date(world.clock.now() + 86_400_000).toISOString());
    const { id } = await conversation();
    await engine.agents.update(ada.id, { enabled: true });
    await engine.conversations.assign(id, { type: "agent", id: ada.id });
    const taken = await engine.conversations.assign(id, { type: "human", id: "eve" });
    expect(taken.waiting_since).toBe(created_at);
    await engine.conversations.assign(id, { type: "agent", id: ada.id });
    await pass();
    expect(await replies()).toEqual(["You said: Do you open on Sunday?"]);
  });
});

it("a conversation that a person takes waits since the first of many messages", async () => {
  const { engine, say, pass, conversation } = await agency(memory(), {
    agent: { reply: { debounce_ms: 10_000 } },
  });
  const { created_at } = await say("Is anybody there?");
  await pass(1_000);
  for (let n = 0; n <= maxUnanswered; n++) await say(`Hello ${n}`);
  const { id } = await conversation();
  const taken = await engine.conversations.assign(id, { type: "human", id: "eve" });
  expect(taken.waiting_since).toBe(created_at);
});
