/** Which of the messages that wait an agent answers when it gets a conversation. */
import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { actionOf } from "../actions.ts";
import { agency, survey, visitor } from "../world.ts";

const ping = actionOf({ name: "ping", execute: () => "pong" });

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

describe("a trigger in a conversation without a handler", () => {
  it.each(["an action", "a playbook"] as const)(
    "of %s has the agent answer the contact's waiting question",
    async (what) => {
      const { engine, agent, say, pass, replies, conversation } = await agency(memory(), {
        actions: [ping],
        playbooks: [survey],
        agent: { enabled: false },
      });
      await say("Do you sell red bicycles?");
      await pass();
      expect(await conversation()).toMatchObject({
        handler: "none",
        waiting_since: expect.any(String),
      });
      await engine.agents.update(agent.id, { enabled: true });
      const [playbook_id = ""] = agent.playbook_ids;
      await engine.agents.trigger(agent.id, {
        conversation_id: (await conversation()).id,
        ...(what === "an action" ? { action: "ping" } : { playbook_id }),
      });
      await pass();
      const answer = "You said: Do you sell red bicycles?";
      expect(await replies()).toEqual(what === "an action" ? [answer] : [answer, "From 1 to 5?"]);
    },
  );

  it("leaves out the messages that the host application has answered", async () => {
    const { engine, agent, say, pass, replies, conversation } = await agency(memory(), {
      actions: [ping],
      agent: { enabled: false },
    });
    await say("Do you sell red bicycles?");
    await engine.messages.send({ to: visitor, body: "Yes, and blue ones." });
    await engine.agents.update(agent.id, { enabled: true });
    const { id: conversation_id } = await conversation();
    await engine.agents.trigger(agent.id, { conversation_id, action: "ping", input: {} });
    await pass();
    expect(await replies()).toEqual([]);
  });
});

describe("an agent that gets a conversation back from no handler", () => {
  it.each(["a trigger", "an assignment"] as const)(
    "by %s leaves out the messages that the host application has answered",
    async (how) => {
      const { engine, agent, ask, say, pass, replies, conversation, runs } = await agency(
        memory(),
        { actions: [ping] },
      );
      expect(await ask("Hello")).toEqual(["You said: Hello"]);
      const { id } = await conversation();
      await engine.conversations.assign(id, null);
      await engine.agents.update(agent.id, { enabled: false });
      await say("Do you sell red bicycles?");
      await engine.messages.send({ to: visitor, body: "Yes, and blue ones." });
      const { id: waiting } = await say("And green ones?");
      await engine.agents.update(agent.id, { enabled: true });
      const given = { conversation_id: id, action: "ping" };
      await (how === "a trigger"
        ? engine.agents.trigger(agent.id, given)
        : engine.conversations.assign(id, { type: "agent", id: agent.id }));
      await pass();
      expect((await replies()).slice(1)).toEqual(["You said: And green ones?"]);
      expect((await runs()).at(-1)?.trigger.message_ids).toEqual([waiting]);
    },
  );

  it.each(["the same agent", "another agent"] as const)(
    "answers, as %s, a question after which the engine has only answered a keyword",
    async (which) => {
      const { engine, agent, ask, say, pass, replies, conversation } = await agency(memory());
      expect(await ask("Hello")).toEqual(["You said: Hello"]);
      const { id } = await conversation();
      await engine.conversations.assign(id, null);
      await engine.agents.update(agent.id, { enabled: false });
      const { created_at } = await say("Do you sell red bicycles?");
      await say("HELP");
      expect((await conversation()).waiting_since).toBe(created_at);
      const next =
        which === "the same agent"
          ? await engine.agents.update(agent.id, { enabled: true })
          : await engine.agents.create({ name: "Bo", channels: ["sms"] });
      await engine.conversations.assign(id, { type: "agent", id: next.id });
      await pass();
      expect((await replies()).slice(1)).toEqual(["You said: Do you sell red bicycles?"]);
    },
  );
});
