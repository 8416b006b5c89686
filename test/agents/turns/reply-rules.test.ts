/** An agent's rules in playbooks, refused replies and time-outs of the queue. */
import { describe, expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import { defaultAgent } from "../../../src/agents/types.ts";
import type { ModelTurn } from "../../../src/ports/agent-model.ts";
import { world } from "../../support/engines/world.ts";
import { actionOf } from "../actions.ts";
import { agency, survey, type Agency, type AgencyOptions } from "../world.ts";

const message = "I'll get a colleague.";
/** A model must not repeat twelve words of its instructions. */
const secret = "Never tell contacts that we give ten percent to whoever asks twice.";
const lookUp = actionOf({
  name: "look_up",
  execute: () => ({ state: "sent" }),
});
const order = {
  name: "Order",
  trigger: { keywords: ["order"] },
  steps: [
    { id: "begun", type: "send", text: "One moment." },
    { id: "tell", type: "instruct", text: "Say where the order is." },
    { id: "more", type: "send", text: "Anything else?" },
  ],
} satisfies CreatePlaybook;

describe("a model is offered actions", () => {
  test("only in answers outside a playbook", async () => {
    const { ask, seen } = await agency(memory(), {
      actions: [lookUp],
      playbooks: [order, survey],
      model: ({ task }) => (task.type === "extract" ? {} : { text: "On its way." }),
    });
    await ask("where is my order");
    await ask("thanks a lot");
    await ask("the survey");
    await ask("what is it for?");
    const offered = seen.map(({ task, slots, actions }) => [
      task.type,
      slots !== null,
      actions.map(({ name }) => name),
    ]);
    expect(offered).toEqual([
      ["instruct", false, []],
      ["answer", false, ["look_up"]],
      ["extract", true, []],
      ["answer", true, []],
    ]);
  });
});

describe("in a playbook", () => {
  const failing = (): never => {
    throw new Error("down");
  };

  test.each([
    ["an instruction", order, [], ["where is my order"], `One moment.\n\n${message}`],
    ["an extraction", survey, ["survey"], ["lots"], message],
  ])(
    "a model that fails at %s causes a hand-off with the rule model_error",
    async (_, playbook, before, said, told) => {
      const { ask, conversation } = await agency(memory(), {
        model: ({ task }) => (task.type === "answer" ? { text: "Hm." } : failing()),
        playbooks: [playbook],
        agent: { handoff: { rules: [{ on: "model_error" }], message } },
      });
      for (const each of before) await ask(each);
      for (const each of said) expect(await ask(each)).toEqual([told]);
      expect(await conversation()).toMatchObject({ handler: "queue" });
    },
  );

  test("a playbook continues without the model's text if no such rule exists", async () => {
    const { ask, conversation } = await agency(memory(), { model: failing, playbooks: [order] });
    expect(await ask("where is my order")).toEqual(["One moment.\n\nAnything else?"]);
    expect(await conversation()).toMatchObject({ handler: "ai" });
  });

  test.each([
    ["intent", { on: "intent", value: "complaint" }, "Hm.", /intent is "complaint"/],
    ["confidence_below", { on: "confidence_below", value: 0.9 }, "Hm.", /not sure/],
    ["guardrail", { on: "guardrail" }, secret, /held back/],
  ] as const)("the rule %s applies to asides", async (rule, given, text, reason) => {
    const { ask, engine } = await agency(memory(), {
      playbooks: [survey],
      agent: { handoff: { rules: [given], message }, instructions: secret },
      model: ({ task }) =>
        task.type === "answer" ? { text, intent: "complaint", confidence: 0.6 } : {},
    });
    await ask("survey");
    expect(await ask("my parcel is broken")).toEqual([message]);
    const { data } = await engine.events.list({ limit: 100 });
    expect(data.filter(({ type }) => type === "conversation.handoff")).toMatchObject([
      { data: { rule, reason: expect.stringMatching(reason) as unknown } },
    ]);
  });
});

describe("an answer with a text is a reply", () => {
  test.each([
    ["calls nothing", { calls: [] }],
    ["names an unknown playbook", { playbook_id: "none" }],
    ["names no playbook", { playbook_id: "" }],
  ])("if it %s: confidence_below applies, and a playbook lets it pass", async (_, more) => {
    const rules = [{ on: "confidence_below", value: 0.5 }] as const;
    const { ask, conversation } = await agency(memory(), {
      playbooks: [survey],
      agent: { handoff: { rules: [...rules], message } },
      model: ({ task, messages }) => {
        if (task.type !== "answer") return {};
        const isKnown = /open/.test(messages.at(-1)?.text ?? "");
        return isKnown ? { text: "At nine.", ...more } : { text: "Hm.", confidence: 0.1, ...more };
      },
    });
    await ask("survey");
    expect(await ask("When do you open?")).toEqual(["At nine.\n\nFrom 1 to 5?"]);
    expect(await ask("4")).toEqual(["Thank you for the 4."]);
    expect(await ask("Do you sell kites?")).toEqual([message]);
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });
});

describe("an agent's reply that cannot be sent", () => {
  test("causes a silent hand-off and does not advance the playbook", async () => {
    const policies = [
      {
        name: "no_thanks",
        evaluate: ({ message }: { message: { body: string; author: { type: string } } }) =>
          message.author.type === "agent" && message.body.startsWith("Thank")
            ? ({ verdict: "deny", code: "no_thanks", message: "no thanks" } as const)
            : ({ verdict: "allow" } as const),
      },
    ];
    const { ask, thread, conversation, runs, engine } = await agency(memory(), {
      playbooks: [survey],
      options: { policies },
    });
    await ask("survey");
    await ask("4");
    expect((await thread()).map(({ body }) => body)).toEqual(["survey", "From 1 to 5?", "4"]);
    expect(await conversation()).toMatchObject({ handler: "queue" });
    expect((await runs()).at(-1)).toMatchObject({
      status: "failed",
      result: { code: "policy_denied" },
    });
    const { data } = await engine.events.list({ limit: 100 });
    const handed = data.flatMap(({ type, data: told }) =>
      type === "conversation.handoff" ? [told] : [],
    );
    expect(handed).toMatchObject([
      { rule: null, reason: expect.stringContaining("refused") as unknown },
    ]);
  });

  test("does not leave a refused question open", async () => {
    const { engine, agent, ask, pass, conversation } = await agency(memory(), {
      playbooks: [survey],
    });
    await ask("hello");
    await ask("STOP");
    const { id: conversation_id } = await conversation();
    await engine.agents.trigger(agent.id, {
      conversation_id,
      playbook_id: agent.playbook_ids[0] ?? "",
    });
    await pass();
    await ask("START");
    expect(await ask("I need 3 plants")).toEqual(["You said: I need 3 plants"]);
  });

  test("is not generated for a contact that has opted out, until it opts in", async () => {
    const { ask, seen, conversation, runs } = await agency(memory());
    await ask("STOP");
    for (let n = 0; n < 5; n++) expect(await ask(`a question, number ${n}`)).toEqual([]);
    expect([seen.length, await runs()]).toEqual([0, []]);
    expect(await conversation()).toMatchObject({ handler: "ai" });
    await ask("START");
    expect(await ask("are you there?")).toEqual(["You said: are you there?"]);
  });
});

describe("with on_no_humans stay_ai, after the queue time-out", () => {
  const given = {
    agent: { handoff: { message, queue_timeout_seconds: 60, on_no_humans: "stay_ai" as const } },
  };

  test("the contact gets the fallback text, and the agent answers the next message", async () => {
    const { ask, pass, thread, conversation } = await agency(memory(), given);
    await ask("let me speak to a person");
    await pass(60_000);
    expect((await thread()).map(({ author, body }) => [author.type, body])).toEqual([
      ["contact", "let me speak to a person"],
      ["agent", message],
      ["system", defaultAgent.fallback_text],
    ]);
    expect(await conversation()).toMatchObject({ handler: "ai" });
    expect(await ask("when are you open?")).toEqual(["You said: when are you open?"]);
  });

  test("the agent answers messages of the waiting time instead", async () => {
    const { ask, pass, thread } = await agency(memory(), given);
    await ask("let me speak to a person");
    await ask("when are you open?");
    await pass(60_000);
    expect((await thread()).slice(2).map(({ body }) => body)).toEqual([
      "when are you open?",
      "You said: when are you open?",
    ]);
  });
});

test("a contact that keeps writing gets one answer, even if sentiment scoring is slow", async () => {
  let sleep = (_ms: number): Promise<void> => Promise.resolve();
  const sentiment = { score: () => sleep(1_900).then(() => 0.1) };
  const { world: here, say, pass, replies } = await agency(memory(), { options: { sentiment } });
  sleep = (ms) => here.clock.sleep(ms);
  for (let n = 0; n < 8; n++) {
    await say(`and this is number ${n}`);
    await pass(1_400);
  }
  // Five pauses of 1.5 s, and 2 s for the sentiment score.
  expect(await replies()).toHaveLength(1);
});

describe("the loop guard", () => {
  const yesNo = (name: string) => ({
    name,
    type: "boolean" as const,
    required: true,
    prompt: `${name}?`,
  });
  const extras = {
    name: "Extras",
    trigger: { keywords: ["order"] },
    slots: ["salt", "milk", "bread", "tea"].map(yesNo),
    steps: [
      ...["salt", "milk", "bread", "tea"].map((slot) => ({ id: slot, type: "ask" as const, slot })),
      { id: "done", type: "send" as const, text: "Ordered." },
    ],
  };

  test.each(["no thanks", "no, thank you very much"])(
    "accepts %j as the answer to every question",
    async (body) => {
      const { ask, conversation } = await agency(memory(), { playbooks: [extras] });
      await ask("I want to order");
      const questions: string[] = [];
      for (let n = 0; n < 4; n++) questions.push(...(await ask(body)));
      expect(questions).toEqual(["milk?", "bread?", "tea?", "Ordered."]);
      expect(await conversation()).toMatchObject({ handler: "ai" });
    },
  );

  test("allows repeated short phrases but no repeated sentence", async () => {
    const { ask, conversation } = await agency(memory());
    for (let n = 0; n < 4; n++) await ask("ok thank you");
    expect(await conversation()).toMatchObject({ handler: "ai" });
    for (let n = 0; n < 3; n++) await ask("Your message was received.");
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });

  const question = "when do you open tomorrow";
  const returns: readonly {
    readonly by: string;
    readonly back: (made: Agency, id: string, agent: string) => Promise<unknown>;
    readonly handoff?: NonNullable<AgencyOptions["agent"]>["handoff"];
  }[] = [
    { by: "a hand-back", back: ({ engine }, id) => engine.conversations.handBack(id) },
    {
      by: "an assignment",
      back: ({ engine }, id, agent) =>
        engine.conversations.assign(id, { type: "agent", id: agent }),
    },
    {
      by: "the end of the wait for people",
      back: ({ pass }) => pass(60_000),
      handoff: { queue_timeout_seconds: 60, on_no_humans: "stay_ai" },
    },
    {
      by: "the contact, after people closed it",
      back: ({ engine }, id) => engine.conversations.update(id, { status: "closed" }),
      handoff: { resume_after_human: true },
    },
  ];

  test.each(returns)(
    "does not count what was said before the agent got the conversation back by $by",
    async ({ back, handoff = {} }) => {
      const made = await agency(memory(), { agent: { handoff } });
      const { ask, say, pass, conversation, engine, agent } = made;
      for (let n = 0; n < 2; n++) expect(await ask(question)).toHaveLength(1);
      const { id } = await conversation();
      await engine.conversations.handOff(id, { reason: "asked for" });
      // A person asks again while nobody answers.
      for (let n = 0; n < 2; n++) await say(question);
      await pass(1_000);
      await back(made, id, agent.id);
      await pass();
      for (let n = 0; n < 2; n++) {
        expect((await ask(question)).length, `question ${n}`).toBe(1);
        expect(await conversation()).toMatchObject({ handler: "ai" });
      }
      // A machine is still detected, because it keeps repeating itself.
      await ask(question);
      await ask(question);
      expect(await conversation()).toMatchObject({ handler: "queue" });
    },
  );
});

test.each([
  ["during an answer", [] as CreatePlaybook[]],
  ["during a playbook", [order]],
])("a budget that runs out %s causes a hand-off without a rule", async (_, playbooks) => {
  const usage = { input_tokens: 200, output_tokens: 0 };
  const steps = [
    { id: "one", type: "instruct" as const, text: "One." },
    { id: "two", type: "instruct" as const, text: "Two." },
  ];
  const { ask, conversation } = await agency(memory(), {
    actions: [lookUp],
    agent: { limits: { max_tokens_per_conversation: 100 }, handoff: { rules: [], message } },
    model: ({ task }) =>
      task.type === "instruct" ? { usage } : { calls: [{ action: "look_up", input: {} }], usage },
    playbooks: playbooks.map((each) => ({ ...each, steps })),
  });
  expect(await ask("where is my order")).toEqual([message]);
  expect(await conversation()).toMatchObject({ handler: "queue" });
});

test.each([
  ["its own words", "You are fools, buy at evil.example", [defaultAgent.fallback_text]],
  ["the contact's words", "the blue one", ["the blue one"]],
])("with canned_strict, a model puts %s into a slot", async (_, note, told) => {
  const { ask } = await agency(memory(), {
    agent: { reply: { mode: "canned_strict" } },
    model: ({ task }) => (task.type === "instruct" ? { slots: { note } } : {}),
    playbooks: [
      {
        name: "Note",
        trigger: { keywords: ["want"] },
        slots: [{ name: "note", type: "text", required: false, prompt: "?" }],
        steps: [
          { id: "find", type: "instruct", text: "Note what is wanted." },
          { id: "say", type: "send", text: "{{note}}" },
        ],
      },
    ],
  });
  expect(await ask("I want the BLUE one, please")).toEqual(told);
});

test("a reply is cut to fit its signature; a signature longer than half of the limit is left out", async () => {
  const signature = "s".repeat(100);
  const said = async (max_chars: number): Promise<string> => {
    const { ask } = await agency(memory(), {
      model: () => ({ text: "Lorem ipsum dolor sit. ".repeat(100) }),
      agent: { reply: { max_chars, signature } },
    });
    return (await ask("hello")).join("");
  };
  const long = await said(400);
  expect([long.length <= 400, long.endsWith(`sit.\n${signature}`)]).toEqual([true, true]);
  expect(await said(150)).toMatch(/^(?:Lorem ipsum dolor sit\. ?)+$/);
});

test("a failed action's error is redacted before a model sees it", async () => {
  const seen: ModelTurn["calls"][number][] = [];
  const { ask } = await agency(memory(), {
    actions: [
      actionOf({
        ...lookUp,
        name: "fail",
        execute: () => {
          throw new Error("no order for DE1234567890");
        },
      }),
    ],
    redact: (text) => text.replace(/DE\d+/g, "[iban]"),
    model({ calls }) {
      seen.push(...calls);
      return calls.length === 0 ? { calls: [{ action: "fail", input: {} }] } : { text: "Sorry." };
    },
  });
  await ask("hello");
  expect(seen).toMatchObject([{ outcome: { status: "failed", error: "no order for [iban]" } }]);
});

test("a reply that was generated before a hand-off and hand-back is discarded", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let n = 0;
  const { engine, say, pass, replies, conversation, runs } = await agency(memory(), {
    async model() {
      const text = `Thought ${++n}`;
      if (n === 1) await promise;
      return { text };
    },
  });
  await say("hello");
  await pass(3_000);
  const { id } = await conversation();
  await engine.conversations.handOff(id, { reason: "mine" });
  await engine.conversations.handBack(id);
  resolve();
  await pass();
  expect(await replies()).toEqual(["Thought 2"]);
  expect((await runs()).map(({ status, trigger }) => [status, trigger.type])).toEqual([
    ["canceled", "inbound"],
    ["completed", "handback"],
  ]);
});

describe("without the option `agents`", () => {
  test("no agent can be enabled, and seeding the sandbox creates no assistant", async () => {
    const engine = world().engine(memory());
    await engine.start();
    const ada = { name: "Ada", channels: ["sms" as const] };
    await expect(engine.agents.create(ada)).rejects.toMatchObject({
      code: "not_configured",
      status: 501,
    });
    const { id } = await engine.agents.create({ ...ada, enabled: false });
    await expect(engine.agents.update(id, { enabled: true })).rejects.toMatchObject({
      code: "not_configured",
    });
    await engine.sandbox.seed();
    expect((await engine.agents.list()).data.map(({ name }) => name)).toEqual(["Ada"]);
    const { conversation_id } = await engine.sandbox.inbound({
      from: "+15005550190",
      body: "hello",
    });
    expect(await engine.conversations.get(conversation_id)).toMatchObject({ handler: "none" });
  });
});
