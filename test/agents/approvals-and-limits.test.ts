/** Approvals, triggers, limits, redaction and pinned versions of an agent. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { type Action, action } from "../../src/ports/action.ts";
import type { AgentModel, ModelTurn } from "../../src/ports/agent-model.ts";
import { outcome } from "../contacts/helpers.ts";
import { storages } from "../support/storages.ts";
import { stopped } from "../support/world.ts";
import { type Agency, agency, echo, visitor } from "./world.ts";

const day = 86_400_000;

/** An action that needs an approval. */
function payOut(paid: string[]): Action {
  return action({
    name: "pay_out",
    description: "Pays out.",
    input: z.strictObject({ amount: z.number() }),
    risk: "approval",
    idempotent: false,
    execute: ({ amount }, { idempotency_key }) => {
      paid.push(idempotency_key);
      return { paid: amount };
    },
  });
}

/** Calls `pay_out` once, and then replies with its outcome. */
const payer: AgentModel["respond"] = ({ calls: [call] }) =>
  call === undefined
    ? { calls: [{ action: "pay_out", input: { amount: 5 } }] }
    : {
        text:
          call.outcome.status === "failed" ? `failed: ${call.outcome.error}` : call.outcome.status,
      };

const refund = {
  name: "Refund",
  trigger: { keywords: ["refund"] },
  steps: [
    { id: "wait", type: "send", text: "Let me see." },
    { id: "pay", type: "run", action: "pay_out", args: { amount: 7 }, on_error: "no" },
    { id: "yes", type: "send", text: "You got {{pay.paid}} back.", next: "end" },
    { id: "no", type: "send", text: "Sorry, no.", next: "end" },
    { id: "end", type: "resolve" },
  ],
} as const;

async function awaitingRunId({ runs }: Agency): Promise<string> {
  const run = (await runs()).findLast(({ status }) => status === "awaiting_approval");
  return run?.id ?? "run_none";
}

describe.each(storages)("an approval on $name", ({ open }) => {
  test("survives a restart of the engine that asked for it", async () => {
    const ground = open();
    const paid: string[] = [];
    const made = await agency(ground.connect(), { actions: [payOut(paid)], model: payer });
    expect(await made.ask("Pay me")).toEqual(["awaiting_approval"]);
    const id = await awaitingRunId(made);
    expect(paid).toEqual([]);
    await stopped(made.engine, made.world.clock);
    const engine = made.world.engine(ground.connect(), {
      transports: [made.line],
      agents: { model: payer, actions: [payOut(paid)] },
    });
    await engine.start();
    await engine.agents.approve(made.agent.id, id, { decision: "approve", author_id: "eve" });
    await made.pass();
    expect(paid).toEqual([`${id}.1`]);
    expect(made.line.calls.map(({ message: { body } }) => body)).toEqual([
      "awaiting_approval",
      "done",
    ]);
    expect(await engine.agents.run(made.agent.id, id)).toMatchObject({ status: "completed" });
    expect(await outcome(engine.agents.approve(made.agent.id, id, { decision: "approve" }))).toBe(
      "conflict",
    );
  });
});

describe("an approval", () => {
  test.each([
    [
      "denied",
      (made: Agency, id: string) =>
        made.engine.agents.approve(made.agent.id, id, { decision: "deny" }),
    ],
    ["left alone for a day", (made: Agency) => made.fastForward(day)],
  ])("that is %s does not run the action", async (_, decide) => {
    const paid: string[] = [];
    const made = await agency(memory(), { actions: [payOut(paid)], model: payer });
    await made.ask("Pay me");
    const id = await awaitingRunId(made);
    await decide(made, id);
    await made.pass();
    expect(paid).toEqual([]);
    expect(await made.replies()).toEqual(["awaiting_approval", "failed: denied"]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "completed" });
    expect(
      await outcome(made.engine.agents.approve(made.agent.id, id, { decision: "approve" })),
    ).toBe("conflict");
  });

  test.each([
    ["approve", "You got 7 back.", 1],
    ["deny", "Sorry, no.", 0],
  ] as const)("resumes the playbook that waits for it: %s", async (decision, told, times) => {
    const paid: string[] = [];
    const made = await agency(memory(), {
      actions: [payOut(paid)],
      playbooks: [{ ...refund, trigger: { keywords: ["refund"] }, steps: [...refund.steps] }],
    });
    expect(await made.ask("I want a refund")).toEqual(["Let me see."]);
    // The agent answers other messages meanwhile. They do not decide the approval.
    expect(await made.ask("And how are you?")).toEqual(["You said: And how are you?"]);
    await made.engine.agents.approve(made.agent.id, await awaitingRunId(made), { decision });
    await made.pass();
    expect((await made.replies()).at(-1)).toBe(told);
    expect(paid).toHaveLength(times);
    expect(await made.conversation()).toMatchObject({ status: "closed" });
  });

  test("that a playbook waits for lets the model call no actions meanwhile", async () => {
    const paid: string[] = [];
    const made = await agency(memory(), {
      actions: [payOut(paid)],
      playbooks: [{ ...refund, trigger: { keywords: ["refund"] }, steps: [...refund.steps] }],
      model: () => ({ text: "Paid.", calls: [{ action: "pay_out", input: { amount: 5 } }] }),
      agent: { fallback_text: "Later." },
    });
    await made.ask("I want a refund");
    expect(await made.ask("And pay me five")).toEqual(["Later."]);
    expect(made.seen.map(({ actions }) => actions)).toEqual([[]]);
    const runs = await made.runs();
    expect(runs.map(({ status }) => status)).toEqual(["awaiting_approval", "completed"]);
  });

  test("of a call whose run hands off is not possible: the call is denied, and the run says so", async () => {
    const paid: string[] = [];
    const made = await agency(memory(), {
      actions: [payOut(paid)],
      model: (turn, context) =>
        turn.calls.length === 0 ? payer(turn, context) : { handoff: { reason: "It is money." } },
    });
    await made.ask("Pay me");
    const [run = expect.fail()] = await made.runs();
    expect(run).toMatchObject({ status: "handed_off", approval: null });
    expect(run.steps.at(-1)).toMatchObject({
      type: "approval",
      name: "pay_out",
      output: "deny",
      error: "run_ended",
    });
    const approval = made.engine.agents.approve(made.agent.id, run.id, { decision: "approve" });
    expect(await outcome(approval)).toBe("conflict");
    await made.fastForward(2 * day);
    expect(paid).toEqual([]);
  });

  test("is refused after a person has taken over", async () => {
    const paid: string[] = [];
    const made = await agency(memory(), { actions: [payOut(paid)], model: payer });
    await made.ask("Pay me");
    const id = await awaitingRunId(made);
    const { approve } = made.engine.agents;
    await made.engine.conversations.reply((await made.conversation()).id, { body: "This is Eve." });
    // The action would not run, so approving it is a conflict. Denying it is allowed.
    expect(await outcome(approve(made.agent.id, id, { decision: "approve" }))).toBe("conflict");
    await approve(made.agent.id, id, { decision: "deny" });
    await made.pass();
    expect(paid).toEqual([]);
    expect(await made.replies()).toEqual(["awaiting_approval"]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "canceled" });
  });
});

describe("a trigger", () => {
  const greeting = {
    name: "Greeting",
    slots: [{ name: "who", type: "text" as const, required: true, prompt: "Who is it?" }],
    steps: [
      { id: "ask", type: "ask" as const, slot: "who" },
      { id: "say", type: "send" as const, text: "Hello {{who}}." },
    ],
  };
  const ping = (actionCalls: string[]): Action =>
    action({
      name: "ping",
      description: "Pings.",
      input: z.unknown(),
      risk: "write",
      idempotent: true,
      execute: (_, { idempotency_key }) => void actionCalls.push(idempotency_key),
    });

  test("writes to a contact that never wrote, once per idempotency key", async () => {
    const { engine, agent, pass, replies, say } = await agency(memory(), { playbooks: [greeting] });
    const contact = await engine.contacts.create({ phone: visitor });
    const order = {
      contact_id: contact.id,
      playbook_id: agent.playbook_ids[0] ?? "",
      input: { who: "Ann" },
    };
    const [run, again] = [
      await engine.agents.trigger(agent.id, order, { idempotencyKey: "once" }),
      await engine.agents.trigger(agent.id, order, { idempotencyKey: "once" }),
    ];
    expect(again.id).toBe(run.id);
    await pass();
    expect(await replies()).toEqual(["Hello Ann."]);
    expect(await engine.agents.run(agent.id, run.id)).toMatchObject({
      status: "completed",
      trigger: { type: "api" },
    });
    await say("Thanks");
    await pass();
    expect(await replies()).toEqual(["Hello Ann.", "You said: Thanks"]);
  });

  test("of an action sends no reply and does not advance an open playbook", async () => {
    const actionCalls: string[] = [];
    const made = await agency(memory(), {
      actions: [ping(actionCalls)],
      playbooks: [{ ...greeting, trigger: { keywords: ["hello"] } }],
    });
    expect(await made.ask("hello")).toEqual(["Who is it?"]);
    const run = await made.engine.agents.trigger(made.agent.id, {
      conversation_id: (await made.conversation()).id,
      action: "ping",
      input: {},
    });
    await made.pass();
    expect(actionCalls).toEqual([`${run.id}.1`]);
    expect(await made.ask("Ann")).toEqual(["Hello Ann."]);
  });
});

describe("limits", () => {
  test("on the segments of a text message apply to replies to MMS, too", async () => {
    const { engine, pass, thread } = await agency(memory(), {
      model: () => ({ text: "ñandú ŝ ".repeat(180) }),
      agent: { reply: { max_chars: 1_500 } },
    });
    await engine.sandbox.inbound({
      from: visitor,
      body: "Look",
      media: [{ url: "https://example.com/a.png" }],
    });
    await pass();
    const reply = (await thread()).at(-1);
    expect(reply?.channel).toBe("sms");
    expect(reply?.segments?.count).toBeLessThanOrEqual(6);
  });

  test("on time apply to an input schema that never settles", async () => {
    const stuck: Action = {
      name: "stuck",
      description: "Is never checked.",
      input: { "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) } },
      risk: "write",
      idempotent: false,
      execute: () => null,
    };
    const { ask, runs } = await agency(memory(), {
      actions: [stuck],
      model: () => ({ calls: [{ action: "stuck", input: {} }] }),
      agent: { fallback_text: "Later.", limits: { timeout_ms: 3_000 } },
    });
    expect(await ask("Do it")).toEqual(["Later."]);
    expect(await runs()).toMatchObject([{ status: "completed" }]);
  });

  test("on time prevent further action calls once the time is up", async () => {
    const called: string[] = [];
    const slow = (name: string): Action =>
      action({
        name,
        description: name,
        input: z.unknown(),
        risk: "write",
        idempotent: false,
        timeout_ms: 60_000,
        execute: () => {
          called.push(name);
          return new Promise(() => {});
        },
      });
    const { ask } = await agency(memory(), {
      actions: [slow("one"), slow("two")],
      model: () => ({
        calls: [
          { action: "one", input: {} },
          { action: "two", input: {} },
        ],
      }),
      agent: { fallback_text: "Later.", limits: { timeout_ms: 3_000 } },
    });
    expect(await ask("Do it")).toEqual(["Later."]);
    expect(called).toEqual(["one"]);
  });

  test("on reply texts hold: canned_strict sends only texts that the host application wrote", async () => {
    const hours = "We are open from nine to five.";
    const { ask } = await agency(memory(), {
      model: ({ messages }) => ({
        text: messages.at(-1)?.text.includes("open") === true ? hours : "Whenever you like!",
      }),
      agent: {
        reply: { mode: "canned_strict" },
        knowledge: [{ title: "Hours", text: hours }],
        fallback_text: "Later.",
      },
    });
    expect(await ask("When are you open?")).toEqual([hours]);
    expect(await ask("May I come at night?")).toEqual(["Later."]);
  });
});

describe("canned_strict", () => {
  const price = "A table costs 20 €.";

  test.each([
    ["the host application's text for other signs", "a table costs: -20 $!", price],
    ["nothing for signs without words", "$$$ ???", "Later."],
    ["nothing for a part of a text", "A table costs", "Later."],
    ["a text without words, if the host application wrote it", "!!!", "!!!"],
  ])("sends %s", async (_, text, told) => {
    const { ask } = await agency(memory(), {
      model: () => ({ text }),
      agent: {
        reply: { mode: "canned_strict" },
        knowledge: [
          { title: "Price", text: price },
          { title: "Signs", text: "!!!" },
        ],
        fallback_text: "Later.",
        handoff: { message: null },
      },
    });
    expect(await ask("What does a table cost?")).toEqual([told]);
  });
});

test("a model never sees text that `redact` removes", async () => {
  const seen: ModelTurn[] = [];
  const pin = "1234-5678";
  const block = action({
    name: "block",
    description: "Blocks a card.",
    input: z.unknown(),
    risk: "write",
    idempotent: true,
    execute: () => ({ blocked: [pin] }),
  });
  const { engine, ask, say, pass } = await agency(memory(), {
    actions: [block],
    redact: (text) => text.replaceAll(pin, "[card]"),
    model: (turn) => {
      seen.push(turn);
      return turn.task.type === "instruct" ? { text: "Done." } : echo(turn);
    },
    playbooks: [
      {
        name: "Card",
        trigger: { keywords: ["card"] },
        slots: [
          { name: "number", type: "text", required: true, prompt: "Which one?" },
          {
            name: "when",
            type: "date",
            required: true,
            prompt: "Since when do you have {{number}}?",
          },
        ],
        steps: [
          { id: "ask", type: "ask", slot: "number" },
          { id: "run", type: "run", action: "block", args: { number: "{{number}}" } },
          { id: "do", type: "instruct", text: "Say that {{number}} is blocked" },
          { id: "date", type: "ask", slot: "when" },
        ],
      },
    ],
  });
  const { contact_id } = await say(`I am ${pin}`);
  await engine.contacts.update(contact_id, { name: `Ann ${pin}` });
  await engine.contacts.addObservation(contact_id, { content: `has ${pin}`, kind: "card" });
  await pass();
  await ask("My card");
  await ask(pin);
  await ask("well you know");
  expect(seen.map(({ task }) => task.type)).toEqual(["answer", "instruct", "extract", "answer"]);
  expect(JSON.stringify(seen)).not.toContain(pin);
  expect(JSON.stringify(seen)).toContain("[card]");
});

test("an agent waits up to two seconds for the sentiment score of a message", async () => {
  const scores: Record<string, Promise<number>> = {
    quick: Promise.resolve(-0.9),
    never: new Promise(() => {}),
  };
  const { ask, say, pass, replies, conversation } = await agency(memory(), {
    agent: {
      reply: { debounce_ms: 100 },
      handoff: { rules: [{ on: "sentiment_below", value: -1 }] },
    },
    options: { sentiment: { score: (text) => scores[text] ?? null } },
  });
  await say("never");
  await pass(1_900);
  expect(await replies()).toEqual([]);
  await pass(200);
  expect(await replies()).toEqual(["You said: never"]);
  expect(await ask("quick")).toEqual(["Thank you. A colleague will get back to you."]);
  expect(await conversation()).toMatchObject({ handler: "queue" });
});

test("a conversation keeps its versions of the agent and the running playbook until it closes", async () => {
  const { engine, agent, ask, conversation } = await agency(memory(), {
    agent: { reply: { signature: "Ada" } },
    playbooks: [
      {
        name: "Greeting",
        trigger: { keywords: ["hello"] },
        slots: [{ name: "who", type: "text", required: true, prompt: "Who is it?" }],
        steps: [
          { id: "ask", type: "ask", slot: "who" },
          { id: "say", type: "send", text: "Hello {{who}}." },
        ],
      },
    ],
  });
  expect(await ask("hello")).toEqual(["Who is it?\nAda"]);
  await engine.agents.update(agent.id, { reply: { signature: "Bea" } });
  await engine.playbooks.update(agent.playbook_ids[0] ?? "", {
    steps: [{ id: "say", type: "send", text: "Not at home." }],
  });
  expect(await ask("Ann")).toEqual(["Hello Ann.\nAda"]);
  // A playbook that starts again uses its current version.
  expect(await ask("hello")).toEqual(["Not at home.\nAda"]);
  await engine.conversations.update((await conversation()).id, { status: "closed" });
  expect(await ask("hello")).toEqual(["Not at home.\nBea"]);
});
