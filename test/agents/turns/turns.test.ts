import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import type { CreateAgent } from "../../../src/agents/types.ts";
import type { ModelAnswer, ModelTurn } from "../../../src/ports/agent-model.ts";
import { isLong, longTest } from "../../support/runs.ts";
import { storages } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { agency, echo, visitor } from "../world.ts";

describe.each(storages)("an agent on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  test("answers what a contact writes, in the contact's conversation", async () => {
    const { ask, thread, conversation, agent } = await agency(open().connect());
    expect(await ask("Hello there")).toEqual(["You said: Hello there"]);
    const [, reply] = await thread();
    expect(reply).toMatchObject({
      author: { type: "agent", id: agent.id },
      to: visitor,
      status: "sent",
    });
    expect(await conversation()).toMatchObject({
      handler: "ai",
      assignee: { type: "agent", id: agent.id },
    });
  });

  test.runIf(isTried)("answers a burst of messages once", async () => {
    const { say, pass, replies, seen, runs } = await agency(open().connect());
    const sent = [await say("I have")];
    await pass(500);
    sent.push(await say("a question"));
    await pass(500);
    sent.push(await say("about my order"));
    await pass();
    expect(await replies()).toHaveLength(1);
    expect(
      seen.map(({ messages, unanswered }) => messages.slice(-unanswered).map(({ text }) => text)),
    ).toEqual([["I have", "a question", "about my order"]]);
    const ids = sent.map(({ id }) => id);
    expect(await runs()).toMatchObject([
      { status: "completed", trigger: { type: "inbound", message_ids: ids } },
    ]);
  });

  test.runIf(isTried)(
    "drops an answer if a new message arrives, and answers all messages",
    async () => {
      const { promise: first, resolve } = Promise.withResolvers<void>();
      let asked = 0;
      const { say, pass, replies, runs } = await agency(open().connect(), {
        model: async (turn) => {
          if (++asked === 1) await first;
          return echo(turn);
        },
      });
      await say("One");
      await pass(3_000);
      await say("Two");
      resolve();
      await pass();
      expect(await replies()).toEqual(["You said: Two"]);
      expect(await runs()).toMatchObject([
        { status: "completed", trigger: { message_ids: [{}, {}] } },
      ]);
    },
  );

  test.runIf(isTried)(
    "sends nothing after a person has written, even if the model call began before",
    async () => {
      const { promise: thought, resolve } = Promise.withResolvers<void>();
      const { engine, say, pass, replies, conversation, runs } = await agency(open().connect(), {
        model: async (turn) => {
          await thought;
          return echo(turn);
        },
      });
      await say("Hello");
      await pass(3_000);
      await engine.conversations.reply((await conversation()).id, {
        body: "This is Anna.",
        author_id: "anna",
      });
      resolve();
      await pass();
      expect(await replies()).toEqual([]);
      expect(await runs()).toMatchObject([{ status: "canceled" }]);
      await say("Thanks");
      await pass();
      expect(await replies()).toEqual([]);
    },
  );

  test.runIf(isTried)(
    "hands off once and tells the contact when the contact asks for a person",
    async () => {
      const { engine, ask, conversation } = await agency(open().connect(), {
        agent: {
          handoff: {
            message: "A colleague will write to you.",
            rules: [{ on: "customer_request" }],
          },
        },
      });
      const told: unknown[] = [];
      engine.on("conversation.handoff", ({ data }) => void told.push(data));
      expect(await ask("Can I talk to a human please?")).toEqual([
        "A colleague will write to you.",
      ]);
      expect(await conversation()).toMatchObject({ handler: "queue" });
      expect(await ask("Anybody there?")).toEqual([]);
      expect(told).toMatchObject([
        {
          rule: "customer_request",
          reason: expect.any(String),
          summary: expect.stringContaining("human"),
        },
      ]);
    },
  );

  test("calls the host application's actions and gives the model the outcomes", async () => {
    const calls: unknown[] = [];
    const lookUp = actionOf({
      name: "look_up_order",
      input: z.strictObject({ order: z.string() }),
      risk: "write",
      idempotent: false,
      execute: (input, { idempotency_key, contact, conversation }) => {
        calls.push({ input, idempotency_key, contact, conversation });
        return { state: "shipped" };
      },
    });
    const { ask, runs, conversation } = await agency(open().connect(), {
      actions: [lookUp],
      model: ({ calls: made }) =>
        made.length === 0
          ? { calls: [{ action: "look_up_order", input: { order: "A1" } }] }
          : { text: `It is ${JSON.stringify(made[0]?.outcome)}.` },
    });
    expect(await ask("Where is my order A1?")).toEqual([
      'It is {"status":"done","output":{"state":"shipped"}}.',
    ]);
    const [run] = await runs();
    const { id, contact } = await conversation();
    expect(calls).toEqual([
      {
        input: { order: "A1" },
        idempotency_key: `${run?.id}.1`,
        contact: { id: contact.id, name: null, phone: visitor },
        conversation: { id },
      },
    ]);
    expect(run?.steps).toMatchObject([
      { type: "model" },
      {
        type: "action",
        name: "look_up_order",
        input: { order: "A1" },
        output: { state: "shipped" },
        error: null,
      },
      { type: "model" },
    ]);
  });
});

test.each<{
  readonly rules: NonNullable<NonNullable<CreateAgent["handoff"]>["rules"]>;
  readonly answer: ModelAnswer;
}>([
  {
    rules: ["refund", "complaint"].map((value) => ({ on: "intent", value })),
    answer: { text: "No.", intent: "complaint" },
  },
  {
    rules: [0.1, 0.6].map((value) => ({ on: "confidence_below", value })),
    answer: { text: "Maybe.", confidence: 0.5 },
  },
  { rules: [5, 1].map((value) => ({ on: "failed_attempts", value })), answer: {} },
])("a turn applies each of several hand-off rules for $rules.0.on", async ({ rules, answer }) => {
  const { engine, ask } = await agency(memory(), {
    model: () => answer,
    agent: { handoff: { rules } },
  });
  const told: unknown[] = [];
  engine.on("conversation.handoff", ({ data }) => void told.push(data));
  await ask("Hello");
  expect(told).toMatchObject([{ rule: rules[0]?.on }]);
});

/** A playbook that asks for a day and names it. */
const booking: CreatePlaybook = {
  name: "Book",
  trigger: { keywords: ["book"] },
  slots: [{ name: "day", type: "date", required: true, prompt: "Which day?" }],
  steps: [
    { id: "ask", type: "ask", slot: "day" },
    { id: "done", type: "send", text: "Booked for {{day}}." },
  ],
};
const midnight = Date.parse("2026-01-02T00:00:00Z");

longTest(
  "the day after a message is the day after it was written, also in a turn after midnight",
  async () => {
    const { world, ask, fastForward } = await agency(memory(), { playbooks: [booking] });
    await ask("I want to book");
    await fastForward(midnight - 500 - world.clock.now());
    expect(await ask("Tomorrow")).toEqual(["Booked for 2026-01-02."]);
    expect(world.clock.now()).toBeGreaterThan(midnight);
  },
);

test.each([
  ["the contact's", "America/New_York", "Asia/Tokyo", "2026-01-01"],
  ["the account's", null, "America/New_York", "2026-01-01"],
  ["UTC", null, undefined, "2026-01-02"],
])("the day after a message is read in a time zone: %s", async (_, own, timeZone, day) => {
  const { engine, world, ask, agent, pass, replies } = await agency(memory(), {
    playbooks: [booking],
    options: timeZone === undefined ? {} : { timeZone },
  });
  // It is still December 31 in New York.
  await engine.contacts.create({ phone: visitor, ...(own === null ? {} : { time_zone: own }) });
  await ask("I want to book");
  expect(await ask("Tomorrow")).toEqual([`Booked for ${day}.`]);
  expect(world.clock.now()).toBeLessThan(Date.parse("2026-01-01T01:00:00Z"));
  const { contact } = (await engine.conversations.list({})).data[0] ?? {};
  const input = { day: "tomorrow" };
  const [playbook_id = ""] = agent.playbook_ids;
  await engine.agents.trigger(agent.id, { contact_id: contact?.id ?? "", playbook_id, input });
  await pass();
  expect(await replies()).toHaveLength(3);
  expect((await replies()).at(-1)).toBe(`Booked for ${day}.`);
});

test("a question is answered with the next one, although the session ends between the two", async () => {
  const [memory = expect.fail("no storage")] = storages;
  const { ask, say, pass, fastForward, runs, world } = await agency(memory.open().connect(), {
    agent: { reply: { debounce_ms: 10_000 } },
    options: { reopenHours: 1 },
  });
  await ask("Hello");
  await pass(20_000);
  const answered = Date.parse((await runs()).at(-1)?.finished_at ?? "");
  await fastForward(answered + 3_600_000 - 3_000 - world.clock.now());
  const first = await say("Are you open?");
  await pass(6_000);
  const second = await say("Today, I mean.");
  await pass(60_000);
  expect((await runs()).at(-1)?.trigger.message_ids).toEqual([first.id, second.id]);
});

test("a clock that is set back gives a model no more time than the limit of its turn", async () => {
  const ping = actionOf({
    name: "ping",
    input: z.object({}),
  });
  let isBack = false;
  const made = await agency(memory(), {
    actions: [ping],
    model: () => {
      if (isBack) return new Promise(() => {});
      isBack = true;
      made.world.clock.step(-3_600_000);
      return { calls: [{ action: ping.name, input: {} }] };
    },
  });
  await made.say("Hello");
  await made.pass(60_000);
  expect(await made.replies()).toEqual([made.agent.fallback_text]);
});

describe("the model sees all that the contact has written", () => {
  const linesOf = (turn: ModelTurn | undefined): string[] | undefined =>
    turn?.messages.map(({ from, text }) => `${from}: ${text}`);

  test("in a triggered playbook, also what a person has answered", async () => {
    const made = await agency(memory(), {
      playbooks: [
        { name: "Sum up", steps: [{ id: "sum", type: "instruct", text: "Say what they want." }] },
      ],
    });
    const { engine, agent, ask, pass, seen } = made;
    await ask("I want a red bicycle");
    const { id: conversation_id } = await made.conversation();
    await engine.conversations.handOff(conversation_id, { reason: "A person is needed." });
    await ask("Or a blue one");
    await engine.conversations.reply(conversation_id, { body: "Blue it is.", author_id: "eve" });
    await engine.conversations.handBack(conversation_id);
    await pass();
    const [playbook_id] = agent.playbook_ids;
    await engine.agents.trigger(agent.id, { conversation_id, playbook_id });
    await pass();
    const turn = seen.at(-1);
    expect(turn).toMatchObject({ task: { type: "instruct" }, unanswered: 0 });
    expect(linesOf(turn)).toEqual([
      "contact: I want a red bicycle",
      "agent: You said: I want a red bicycle",
      "contact: Or a blue one",
      "human: Blue it is.",
    ]);
  });

  test("when it continues after an approval", async () => {
    const pay = actionOf({
      name: "pay",
      risk: "approval",
      execute: () => ({}),
    });
    const { engine, agent, ask, pass, runs, seen } = await agency(memory(), {
      actions: [pay],
      model: ({ calls: [call], messages }) =>
        call === undefined && messages.length === 1
          ? { calls: [{ action: "pay", input: {} }] }
          : { text: call?.outcome.status ?? "Noted." },
    });
    await ask("Pay me");
    await ask("To my new account");
    const [run] = await runs();
    await engine.agents.approve(agent.id, run?.id ?? "", { decision: "approve" });
    await pass();
    const turn = seen.at(-1);
    expect(turn).toMatchObject({ calls: [{ outcome: { status: "done" } }], unanswered: 0 });
    expect(linesOf(turn)).toEqual([
      "contact: Pay me",
      "agent: awaiting_approval",
      "contact: To my new account",
      "agent: Noted.",
    ]);
  });
});

test("people who take over from a playbook see what the contact has just answered", async () => {
  const { engine, ask } = await agency(memory(), {
    playbooks: [
      {
        name: "Party",
        trigger: { keywords: ["party"] },
        slots: [
          { name: "guests", type: "number", required: true, prompt: "How many guests?" },
          { name: "day", type: "date", required: true, prompt: "On which day?" },
        ],
        steps: [
          { id: "guests", type: "ask", slot: "guests" },
          { id: "day", type: "ask", slot: "day" },
          { id: "over", type: "handoff", reason: "Parties are booked by people." },
        ],
      },
    ],
  });
  const summaries: string[] = [];
  engine.on("conversation.handoff", ({ data }) => void summaries.push(data.summary));
  for (const said of ["party", "12", "2026-12-01"]) await ask(said);
  expect(summaries).toEqual(["guests: 12, day: 2026-12-01"]);
});

test("a hand-off that the model asks for in an instruction tells people the model's summary", async () => {
  const { engine, ask } = await agency(memory(), {
    model: () => ({ handoff: { reason: "An injury.", summary: "Fell off the red bicycle." } }),
    playbooks: [
      {
        name: "Complaint",
        trigger: { keywords: ["complaint"] },
        steps: [{ id: "listen", type: "instruct", text: "Say that we are sorry." }],
      },
    ],
  });
  await ask("I have a complaint");
  const { data } = await engine.events.list({ type: "conversation.handoff" });
  expect(data).toMatchObject([
    { data: { reason: "An injury.", summary: "Fell off the red bicycle." } },
  ]);
});
