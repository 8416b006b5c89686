/** Since when a contact waits for a person after its conversation has left an agent or a person. */
import { describe, expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { agency, visitor } from "./world.ts";

describe("a conversation that is taken from its agent", () => {
  const eve = { type: "human", id: "eve" } as const;

  test.each([
    ["a person", eve],
    ["nobody", null],
  ])("for %s waits since the first message that the agent has not answered", async (_, to) => {
    const { engine, ask, say, pass, replies, conversation } = await agency(memory(), {
      agent: { reply: { debounce_ms: 5_000 } },
    });
    expect(await ask("Hello")).toEqual(["You said: Hello"]);
    const first = await say("Is anybody there?");
    await pass(1_000);
    await say("Hello?");
    const { id } = await conversation();
    expect((await engine.conversations.assign(id, to)).waiting_since).toBe(first.created_at);
    await pass(60_000);
    expect(await replies(), "the agent no longer answers").toHaveLength(1);
    const waiting = await engine.conversations.list({ waiting: true });
    expect(waiting.data.map((each) => each.id)).toEqual([id]);

    await engine.conversations.reply(id, { body: "This is Eve.", author_id: "eve" });
    expect((await conversation()).waiting_since).toBeNull();
  });

  test.each([
    ["a person", eve],
    ["nobody", null],
  ])("for %s does not wait if the agent has answered everything", async (_, to) => {
    const { engine, ask, conversation } = await agency(memory());
    await ask("Hello");
    const { id } = await conversation();
    expect((await engine.conversations.assign(id, to)).waiting_since).toBeNull();
  });

  test("does not wait if the host application has answered in the meantime", async () => {
    const { engine, say, conversation } = await agency(memory());
    await say("Do you open on Sunday?");
    await engine.messages.send({ to: visitor, body: "Yes, until noon." });
    const { id } = await conversation();
    expect((await engine.conversations.assign(id, eve)).waiting_since).toBeNull();
  });

  test("waits although the engine has answered a keyword", async () => {
    const { engine, say, conversation } = await agency(memory());
    const { created_at } = await say("Do you open on Sunday?");
    await say("HELP");
    const { id } = await conversation();
    expect((await engine.conversations.assign(id, eve)).waiting_since).toBe(created_at);
  });

  test("by a person's reply does not wait: the reply is the answer", async () => {
    const { engine, say, conversation } = await agency(memory());
    await say("Is anybody there?");
    await engine.conversations.reply((await conversation()).id, { body: "Yes." });
    expect(await conversation()).toMatchObject({ handler: "human", waiting_since: null });
  });
});
