/** Triggers, limits, redaction and pinned versions of an agent. */
import { describe, expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { Action } from "../../../src/host/actions.ts";
import type { ModelTurn } from "../../../src/ports/agent-model.ts";
import { actionOf } from "../actions.ts";
import { agency, echo, visitor } from "../world.ts";

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
    actionOf({
      name: "ping",
      risk: "write",
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
      actionOf({
        name,
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

test.each([
  ["a promise", (text: string) => Promise.resolve(text), "Promise"],
  ["a promise that rejects", () => Promise.reject(new Error("down")), "Promise"],
  ["nothing", () => undefined, "undefined"],
])("a model is not asked if `redact` returns %s, and the log says why", async (_, redact, got) => {
  const { engine, ask, seen, world } = await agency(memory(), {
    redact: redact as (text: string) => never,
    agent: { fallback_text: "Later." },
  });
  expect(await ask("Hello")).toEqual(["Later."]);
  expect(seen).toEqual([]);
  const message: unknown = expect.stringMatching(
    `agents.redact must return a string, got .*${got}`,
  );
  expect(world.log).toMatchObject([{ level: "warn", facts: { err: { message } } }]);
  await engine.stop();
});

test("a model sees the start of a long message, and no half of a character", async () => {
  const { ask, seen } = await agency(memory(), {
    options: { limits: { messageCharacters: 20_000 } },
  });
  await ask(`a${"😀".repeat(6_500)}`);
  expect(seen.at(-1)?.messages).toMatchObject([{ text: `a${"😀".repeat(5_999)}` }]);
});

test("a model never sees text that `redact` removes", async () => {
  const seen: ModelTurn[] = [];
  const pin = "1234-5678";
  const block = actionOf({
    name: "block",
    risk: "write",
    execute: () => ({ blocked: [pin], owners: { [pin]: "Ann" } }),
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
