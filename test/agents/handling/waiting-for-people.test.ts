/** Since when a contact waits for a person after its conversation has left an agent or a person. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CreateAgent } from "../../../src/agents/types.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { actionOf } from "../actions.ts";
import { agency, echo, survey, visitor, type Agency } from "../world.ts";

const eve = { type: "human", id: "eve" } as const;

describe("a conversation that is taken from its agent", () => {
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

describe("a conversation that a person closes before its agent has answered", () => {
  async function closedAtOnce() {
    const made = await agency(memory());
    await made.ask("Hi");
    await made.say("Are you open?");
    const { id } = await made.conversation();
    await made.engine.conversations.update(id, { status: "closed" });
    await made.pass();
    expect(await made.replies(), "nobody answers while it is closed").toHaveLength(1);
    return { ...made, id, own: made.engine.conversations };
  }

  test.each([
    ["opens", { status: "open" }],
    ["snoozes", { status: "snoozed", snoozed_until: "2026-02-01T00:00:00Z" }],
  ] as const)("is answered when a person %s it again", async (_, change) => {
    const { own, id, pass, replies } = await closedAtOnce();
    await own.update(id, change);
    await pass();
    expect((await replies()).slice(1)).toEqual(["You said: Are you open?"]);
    await own.update(id, { status: "closed" });
    await own.update(id, change);
    await pass();
    expect(await replies(), "the answer is not repeated").toHaveLength(2);
  });

  test("is not answered when a person opens it again after the reopening window", async () => {
    const { own, id, world, pass, ask, replies, seen } = await closedAtOnce();
    world.clock.step(90 * 86_400_000);
    await own.update(id, { status: "open" });
    await pass();
    expect(await replies(), "the old message has no answer").toHaveLength(1);
    expect(await ask("Hello?")).toEqual(["You said: Hello?"]);
    expect(seen.at(-1)).toMatchObject({ unanswered: 1 });
    expect(seen.at(-1)?.messages.map(({ text }) => text)).toContain("Are you open?");
  });

  test("goes to people when it is opened again and its agent is disabled", async () => {
    const { own, engine, agent, id, pass, conversation } = await closedAtOnce();
    await engine.agents.update(agent.id, { enabled: false });
    await own.update(id, { status: "open" });
    await pass();
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });
});

describe("an agent that a conversation was taken from, and that gets it with the next message,", () => {
  test.each([
    ["what nobody has answered", null, ["Are you open?", "Hello?"]],
    ["nothing that the application has answered", "Until noon.", ["Hello?"]],
  ] as const)("answers %s", async (_, answer, answered) => {
    const { engine, ask, say, pass, conversation, runs, thread } = await agency(memory());
    await ask("Hi");
    await say("Are you open?");
    await engine.conversations.assign((await conversation()).id, null);
    await pass();
    if (answer !== null) await engine.messages.send({ to: visitor, body: answer });
    await ask("Hello?");
    const ids = (await runs()).at(-1)?.trigger.message_ids;
    const bodies = (await thread()).flatMap(({ id, body }) => (ids?.includes(id) ? [body] : []));
    expect(bodies).toEqual(answered);
  });
});

describe("a conversation that a merge closes while its contact waits", () => {
  const second = "+15005550102";
  type Wait = (agency: Agency, conversation_id: string) => Promise<unknown>;
  const asksAgent: Wait = ({ say }) => say("Are you open?", second);
  const asksPeople: Wait = ({ engine }, id) => engine.conversations.handOff(id, { reason: "Help" });

  const asksApproval: Wait = ({ ask }) => ask("I want a refund", second);
  /** Single actions that the host application has triggered wait for an approval, too. */
  const asksBehindOthers: Wait = async ({ engine, agent, ask, pass }, conversation_id) => {
    for (let i = 0; i < 51; i++) {
      await engine.agents.trigger(agent.id, { conversation_id, action: "refund" });
    }
    await pass();
    await ask("I want a refund", second);
  };
  const refund = actionOf({
    name: "refund",
    input: z.object({}),
    risk: "approval",
  });

  async function merged(wait: Wait, keep: Wait = () => Promise.resolve()) {
    const made = await agency(memory(), {
      actions: [refund],
      agent: { limits: { max_triggers_per_minute: 100 } },
      model: (turn) => {
        const isAsked = turn.calls.length === 0 && /refund/.test(turn.messages.at(-1)?.text ?? "");
        return isAsked ? { calls: [{ action: "refund", input: {} }] } : echo(turn);
      },
    });
    await made.ask("Hi");
    await made.ask("Hi", second);
    const [kept, closed] = [await made.conversation(), await made.conversation(second)];
    await keep(made, kept.id);
    await wait(made, closed.id);
    await made.engine.contacts.merge(kept.contact.id, closed.contact.id);
    await made.pass(60_000);
    const { data } = await made.engine.events.list({ type: "conversation.handoff" });
    const handoffs = data
      .map((event) => event.data)
      .filter((each) => "conversation_id" in each && each.conversation_id === kept.id);
    return { closed, handoffs, after: await made.engine.conversations.get(kept.id) };
  }

  test.each([
    ["an agent", asksAgent],
    ["people", asksPeople],
    ["an approval", asksApproval],
    ["an approval behind those of many actions", asksBehindOthers],
  ])("for %s lets people take the other one over", async (_, wait) => {
    const { closed, handoffs, after } = await merged(wait);
    expect(after).toMatchObject({ status: "open", handler: "queue" });
    expect(handoffs).toMatchObject([
      { conversation_id: after.id, reason: expect.stringContaining(closed.id), rule: null },
    ]);
  });

  test.each([
    ["has it", {}],
    ["has snoozed it", { status: "snoozed", snoozed_until: "2026-02-01T00:00:00Z" }],
  ] as const)("makes the other one wait, open, for the person who %s", async (_, change) => {
    const { handoffs, after } = await merged(asksAgent, async ({ engine }, id) => {
      await engine.conversations.reply(id, { body: "Hello!", author_id: "eve" });
      await engine.conversations.update(id, change);
    });
    expect(after).toMatchObject({
      status: "open",
      handler: "human",
      waiting_since: expect.any(String),
    });
    expect(handoffs).toEqual([]);
  });

  test("leaves the other one alone if nobody waits", async () => {
    const { handoffs, after } = await merged(() => Promise.resolve());
    expect(after).toMatchObject({ handler: "ai", waiting_since: null });
    expect(handoffs).toEqual([]);
  });
});

describe("a snoozed conversation", () => {
  const snoozed = { status: "snoozed", snoozed_until: "2026-02-01T00:00:00.000Z" } as const;

  test.each<[string, (agency: Agency, id: string) => Promise<unknown>]>([
    ["its agent", ({ pass }) => pass()],
    [
      "an agent that was disabled",
      async ({ engine, agent, pass }) => {
        await engine.agents.update(agent.id, { enabled: false });
        await pass();
      },
    ],
    ["a command", ({ engine }, id) => engine.conversations.handOff(id, { reason: "Help" })],
  ])("opens when %s hands it off, so that people see it", async (_, handOff) => {
    const made = await agency(memory());
    const { engine, say, conversation } = made;
    await say("Let me talk to a human");
    const { id } = await conversation();
    await engine.conversations.update(id, snoozed);
    await handOff(made, id);
    expect(await conversation()).toMatchObject({
      status: "open",
      handler: "queue",
      snoozed_until: null,
    });
  });

  test.each<[string, (agency: Agency, id: string) => Promise<unknown>]>([
    ["hand it back to", ({ engine }, id) => engine.conversations.handBack(id)],
    [
      "assign it to",
      ({ engine, agent }, id) => engine.conversations.assign(id, { type: "agent", id: agent.id }),
    ],
  ])("opens when people %s its agent, which answers now", async (_, give) => {
    const made = await agency(memory());
    const { engine, ask, say, conversation, pass, replies } = made;
    await ask("Hello");
    const { id } = await conversation();
    await engine.conversations.handOff(id, { reason: "Help" });
    await say("Is anybody there?");
    await engine.conversations.update(id, snoozed);
    await give(made, id);
    await pass();
    expect((await replies()).at(-1)).toBe("You said: Is anybody there?");
    expect(await conversation()).toMatchObject({
      status: "open",
      handler: "ai",
      snoozed_until: null,
    });
  });

  test("opens when people hand it back to the agent that has it already", async () => {
    const { engine, ask, conversation } = await agency(memory());
    await ask("Hello");
    const { id } = await conversation();
    await engine.conversations.update(id, snoozed);
    const open = { status: "open", handler: "ai", snoozed_until: null };
    expect(await engine.conversations.handBack(id)).toMatchObject(open);
  });

  test("opens when a trigger gives it to an agent", async () => {
    const { engine, agent, ask, conversation, pass } = await agency(memory(), {
      playbooks: [survey],
    });
    const [playbook_id = ""] = agent.playbook_ids;
    await ask("Hello");
    const { id } = await conversation();
    await engine.conversations.assign(id, null);
    await engine.conversations.update(id, snoozed);
    await engine.agents.trigger(agent.id, { conversation_id: id, playbook_id });
    await pass();
    expect(await conversation()).toMatchObject({ status: "open", handler: "ai" });
  });

  test("stays so when people get it", async () => {
    const { engine, ask, conversation } = await agency(memory());
    await ask("Hello");
    const { id } = await conversation();
    await engine.conversations.reply(id, { body: "This is Eve.", author_id: "eve" });
    await engine.conversations.update(id, snoozed);
    const taken = await engine.conversations.assign(id, { type: "human", id: "kim" });
    expect(taken).toMatchObject({ ...snoozed, handler: "human" });
    const given = await engine.conversations.assign(id, null);
    expect(given).toMatchObject({ ...snoozed, handler: "queue" });
  });
});

describe("a conversation that a person gives up", () => {
  test("waits in the queue, and the event tells people so", async () => {
    const { engine, ask, conversation } = await agency(memory());
    await ask("Hello");
    const { id } = await conversation();
    await engine.conversations.reply(id, { body: "This is Eve.", author_id: "eve" });
    const given = await engine.conversations.assign(id, null);
    expect(given).toMatchObject({ handler: "queue", assignee: null });
    const { data } = await engine.events.list({ type: "conversation.handoff" });
    expect(data).toMatchObject([
      { data: { conversation_id: id, agent_id: null, rule: null, reason: expect.any(String) } },
    ]);
    await engine.conversations.assign(id, null);
    expect((await engine.events.list({ type: "conversation.handoff" })).data).toHaveLength(1);
  });
});

describe("the queue timeout of 60 s", () => {
  const fallback_text = "Nobody is there.";
  /** The contact has asked for a person, 10 s ago. */
  async function queued(handoff: CreateAgent["handoff"]) {
    const made = await agency(memory(), {
      agent: {
        fallback_text,
        handoff: { rules: [{ on: "customer_request" }], queue_timeout_seconds: 60, ...handoff },
      },
    });
    await made.ask("Let me talk to a human");
    const { id } = await made.conversation();
    const told = async () =>
      (await made.thread()).filter(({ body }) => body === fallback_text).length;
    return { ...made, id, told, own: made.engine.conversations };
  }

  test.each([
    ["again when a person gives the conversation up after it", {}],
    ["when a person gives up a conversation that the agent has not handed off", { rules: [] }],
  ])("begins %s", async (_, handoff) => {
    const { own, id, pass, conversation } = await queued({ ...handoff, on_no_humans: "stay_ai" });
    await own.assign(id, eve);
    await pass(120_000);
    await own.assign(id, null);
    await pass(55_000);
    expect(await conversation()).toMatchObject({ handler: "queue" });
    await pass(10_000);
    expect(await conversation()).toMatchObject({ handler: "ai" });
  });

  test("begins again when a person gives the conversation up before it", async () => {
    const { own, id, pass, told } = await queued({ on_no_humans: "leave_message" });
    await own.assign(id, eve);
    await pass(45_000);
    await own.assign(id, null);
    await pass(55_000);
    expect(await told()).toBe(0);
    await pass(10_000);
    expect(await told()).toBe(1);
  });

  test.each([
    ["before", 20_000],
    ["after", 120_000],
  ])("begins again when a person reopens the conversation %s it", async (_, closedMs) => {
    const { own, id, pass, conversation } = await queued({ on_no_humans: "stay_ai" });
    await own.update(id, { status: "closed" });
    await pass(closedMs);
    expect(await own.update(id, { status: "open" })).toMatchObject({ handler: "queue" });
    await pass(55_000);
    expect(await conversation()).toMatchObject({ handler: "queue" });
    await pass(10_000);
    expect(await conversation()).toMatchObject({ handler: "ai" });
  });

  test("opens a snoozed conversation that the agent takes back", async () => {
    const { own, id, pass, conversation, world } = await queued({ on_no_humans: "stay_ai" });
    const snoozed_until = new Date(world.clock.now() + 3_600_000).toISOString();
    await own.update(id, { status: "snoozed", snoozed_until });
    await pass(60_000);
    expect(await conversation()).toMatchObject({
      handler: "ai",
      status: "open",
      snoozed_until: null,
    });
  });

  test("begins again when the contact reopens a conversation that people keep", async () => {
    const { own, id, pass, say, told } = await queued({ resume_after_human: false });
    await own.update(id, { status: "closed" });
    await pass(120_000);
    await say("Is anybody there now?");
    await pass(55_000);
    expect(await told()).toBe(0);
    await pass(10_000);
    expect(await told()).toBe(1);
  });

  test.each(["leave_message", "stay_ai"] as const)(
    "sends nothing to a contact that may want no more messages: %s",
    async (on_no_humans) => {
      const { say, pass, told, replies, conversation } = await queued({ on_no_humans });
      const before = await replies();
      await say("please stop texting me");
      await pass(120_000);
      expect(await conversation()).toMatchObject({ handler: "queue", opt_out_suspected: true });
      expect([await told(), await replies()]).toEqual([0, before]);
    },
  );

  test.each(["disabled", "deleted"])("sends nothing if the agent was %s", async (how) => {
    const { engine, agent, pass, told, conversation } = await queued({});
    if (how === "disabled") await engine.agents.update(agent.id, { enabled: false });
    else await engine.agents.remove(agent.id);
    await pass(120_000);
    expect([await told(), (await conversation()).handler]).toEqual([0, "queue"]);
  });

  test("does not apply after a reopening if the cause of the hand-off has no timeout", async () => {
    const { own, id, say, pass, conversation } = await queued({
      rules: [{ on: "max_turns", value: 1 }],
      on_no_humans: "stay_ai",
    });
    await say("Hello again");
    await pass();
    await own.update(id, { status: "closed" });
    await own.update(id, { status: "open" });
    await pass(120_000);
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });

  test.each<[string, (own: MessagingEngine["conversations"], id: string) => Promise<unknown>]>([
    ["gives up", (own, id) => own.assign(id, null)],
    ["hands off again", (own, id) => own.handOff(id, { reason: "I am leaving." })],
  ])(
    "does not apply to a conversation that a person %s if the agent's hand-off has no timeout",
    async (_, giveUp) => {
      const { own, id, say, pass, told, conversation } = await queued({
        rules: [{ on: "max_turns", value: 1 }],
        on_no_humans: "stay_ai",
      });
      await say("Hello again");
      await pass();
      expect(await conversation()).toMatchObject({ handler: "queue" });
      await own.assign(id, eve);
      await giveUp(own, id);
      await pass(120_000);
      expect(await conversation()).toMatchObject({ handler: "queue" });
      expect(await told()).toBe(0);
    },
  );
});
