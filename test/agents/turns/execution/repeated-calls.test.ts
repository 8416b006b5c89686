/** Calls of an action with the same input: which are one call, and which are several. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../../../src/agents/playbooks/input-types.ts";
import type { Action } from "../../../../src/host/actions.ts";
import type { ModelAnswer } from "../../../../src/ports/agent-model.ts";
import { actionOf } from "../../actions.ts";
import { agency, visitor, type Agency } from "../../world.ts";

/** Returns the actions of a shop with five chairs, and the keys under which it was changed. */
function shop() {
  let chairs = 5;
  const keys: string[] = [];
  const sellAs = (name: string, risk: "write" | "approval"): Action =>
    actionOf({
      name,
      input: z.strictObject({}),
      risk,
      idempotent: false,
      execute(_, { idempotency_key }) {
        keys.push(idempotency_key);
        return { left: --chairs };
      },
    });
  const count = actionOf({
    name: "count",
    input: z.strictObject({}),
    execute: () => ({ left: chairs }),
  });
  const actions = [count, sellAs("sell", "write"), sellAs("sell_if_approved", "approval")];
  return { keys, actions };
}

const run = (id: string, name: string) =>
  ({ id, type: "run", action: name, args: {}, on_error: "no" }) as const;

async function playing(steps: CreatePlaybook["steps"], more: readonly Action[] = []) {
  const { keys, actions } = shop();
  const trigger = { keywords: ["order"] };
  const no = { id: "no", type: "send", text: "Sorry, no." } as const;
  const playbook = { name: "Order", trigger, steps: [...steps, no] };
  const made = await agency(memory(), { actions: [...actions, ...more], playbooks: [playbook] });
  await made.engine.contacts.create({ phone: visitor, name: "Ann" });
  await made.ask("I want to order");
  return { ...made, keys };
}

async function decide({ engine, agent, runs, pass }: Agency, decision: "approve" | "deny") {
  const waiting = (await runs()).find(({ status }) => status === "awaiting_approval");
  await engine.agents.approve(agent.id, waiting?.id ?? "", { decision });
  await pass();
}

describe("in a playbook that continues after an approval, the same call", () => {
  test.each(["count", "sell"])("of `%s` is made again", async (name) => {
    const text = "{{before.left}} before, {{after.left}} after";
    const made = await playing([
      run("before", name),
      run("pay", "sell_if_approved"),
      run("after", name),
      { id: "done", type: "send", text, next: "end" },
      { id: "end", type: "resolve" },
    ]);
    await decide(made, "approve");
    const told = { count: "5 before, 4 after", sell: "4 before, 2 after" };
    expect(await made.replies()).toEqual([told[name as keyof typeof told]]);
    expect(new Set(made.keys).size).toBe(made.keys.length);
  });

  test("needs its own approval, and fails if that is denied", async () => {
    const made = await playing([
      run("first", "sell_if_approved"),
      run("second", "sell_if_approved"),
      { id: "done", type: "send", text: "Two are yours.", next: "end" },
      { id: "end", type: "resolve" },
    ]);
    await decide(made, "approve");
    expect(await made.replies()).toEqual([]);
    await decide(made, "deny");
    expect(await made.replies()).toEqual(["Sorry, no."]);
    expect(made.keys).toHaveLength(1);
  });
});

test("a call is made once though its turn is taken again, and though its action changes the input", async () => {
  const made: unknown[] = [];
  let meanwhile = (): Promise<unknown> => Promise.resolve();
  const turn = actionOf({
    name: "turn",
    input: z.any(),
    risk: "write",
    idempotent: false,
    async execute(input: { items: number[] }) {
      made.push([...input.items]);
      input.items.reverse();
      await meanwhile();
      return null;
    },
  });
  const steps: CreatePlaybook["steps"] = [
    { id: "turn", type: "run", action: "turn", args: { items: [3, 1, 2] } },
    { id: "done", type: "send", text: "Turned." },
  ];
  const { ask, say, runs } = await agency(memory(), {
    actions: [turn],
    playbooks: [{ name: "Turn", trigger: { keywords: ["turn"] }, steps }],
  });
  meanwhile = () => (made.length === 1 ? say("Are you done?") : Promise.resolve());
  expect(await ask("Please turn it")).toEqual(["Turned."]);
  expect(made).toEqual([[3, 1, 2]]);
  const [first] = await runs();
  expect(first?.steps.find(({ name, type }) => type === "action" && name === "turn")).toMatchObject(
    {
      input: { items: [3, 1, 2] },
    },
  );
});

const schemas = [
  ["checks at once", z.strictObject({})],
  [
    "takes a moment",
    z.strictObject({}).refine(() => new Promise((end) => setImmediate(end, true))),
  ],
] as const;

test.each(schemas)(
  "a call for which a turn had no time, and whose schema %s, is made when the turn is taken again",
  async (_, input) => {
    let answer = (): Promise<ModelAnswer> => new Promise(() => {});
    const { keys, actions } = shop();
    const steps: CreatePlaybook["steps"] = [
      { id: "greet", type: "instruct", text: "Greet." },
      { id: "sell", type: "run", action: "sell", args: {} },
      { id: "done", type: "send", text: "It is yours." },
    ];
    const { ask, say, pass } = await agency(memory(), {
      model: () => answer(),
      actions: actions.map((each) => ({ ...each, input })),
      agent: { limits: { timeout_ms: 3_000 }, handoff: { rules: [] } },
      playbooks: [{ name: "Order", trigger: { keywords: ["order"] }, steps }],
    });
    await say("I want to order");
    await pass(2_000);
    answer = () => Promise.resolve({ text: "Hello." });
    // The first try waits for the model until its time is up. Then it finds this message.
    expect(await ask("Anybody there?")).toEqual(["Hello.\n\nIt is yours."]);
    expect(keys).toHaveLength(1);
  },
);

describe("a playbook whose reply is refused, because the contact opts out", () => {
  const book = (risk: "write" | "approval", execute: () => Promise<void> | void): Action =>
    actionOf({
      name: "book",
      input: z.strictObject({ guests: z.number() }),
      risk,
      idempotent: false,
      execute,
    });
  const booking: CreatePlaybook = {
    name: "Booking",
    trigger: { keywords: ["table"] },
    slots: [{ name: "guests", type: "number", required: true, prompt: "How many?" }],
    steps: [
      { id: "ask", type: "ask", slot: "guests" },
      { id: "book", type: "run", action: "book", args: { guests: "{{guests}}" } },
      { id: "done", type: "send", text: "Booked." },
    ],
  };

  test("during a call, makes the call once", async () => {
    let booked = 0;
    const optOut = async (): Promise<void> => {
      booked++;
      await say("STOP");
    };
    const made = await agency(memory(), {
      actions: [book("write", optOut)],
      playbooks: [booking],
    });
    const { ask, say, replies } = made;
    await ask("a table");
    await ask("5");
    await say("START");
    expect(await ask("5 people")).toEqual(["You said: 5 people"]);
    expect([booked, await replies()]).toEqual([1, ["How many?", "You said: 5 people"]]);
  });

  test("before the approval of a call, makes the call once", async () => {
    let booked = 0;
    const made = await agency(memory(), {
      actions: [book("approval", () => void booked++)],
      playbooks: [booking],
    });
    const { ask, say, pass, runs } = made;
    await ask("a table");
    await ask("5");
    await say("STOP");
    await decide(made, "approve");
    await pass();
    await say("START");
    expect(await ask("Hello?")).toEqual(["You said: Hello?"]);
    const waiting = (await runs()).filter(({ status }) => status === "awaiting_approval");
    expect([booked, waiting]).toEqual([1, []]);
  });
});

test("a model is told that its run may make no more calls", async () => {
  const { actions } = shop();
  const counts = Array.from({ length: 8 }, () => ({ action: "count", input: {} }));
  const { ask, seen } = await agency(memory(), {
    model: ({ calls }) =>
      calls.some(({ outcome }) => outcome.status === "failed")
        ? { text: "I have counted enough." }
        : { calls: counts },
    actions,
  });
  expect(await ask("Count!")).toEqual(["I have counted enough."]);
  const calls = seen.at(-1)?.calls ?? [];
  expect(calls.slice(0, 20).every(({ outcome }) => outcome.status === "done")).toBe(true);
  const refused = { status: "failed", error: "too_many_calls" };
  expect(calls.slice(20).map(({ outcome }) => outcome)).toEqual(counts.slice(4).map(() => refused));
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
});

test("a run names the call that the next decision is about", async () => {
  const pay = actionOf({
    name: "pay",
    input: z.strictObject({ amount: z.number() }),
    risk: "approval",
    idempotent: false,
    execute: () => undefined,
  });
  const made = await playing(
    [
      { ...run("some", "pay"), args: { amount: 5 } },
      { ...run("more", "pay"), args: { amount: 500 } },
      { id: "end", type: "resolve" },
    ],
    [pay],
  );
  const asked = async () => (await made.runs())[0]?.approval;
  const [{ id } = { id: "" }] = await made.runs();
  expect(await asked()).toEqual({ call_id: `${id}.1`, action: "pay", input: { amount: 5 } });
  await decide(made, "approve");
  expect(await asked()).toEqual({ call_id: `${id}.2`, action: "pay", input: { amount: 500 } });
  await decide(made, "deny");
  expect(await asked()).toBeNull();
});

describe("a playbook's call with the contact's name, which changes before the decision,", () => {
  test.each([
    ["approve", [{ to: "Ann" }], "Ann B., it is yours."],
    ["deny", [], "Sorry, no."],
  ] as const)("is decided as it was asked for: %s", async (decision, called, told) => {
    const inputs: unknown[] = [];
    const give = actionOf({
      name: "give",
      input: z.strictObject({ to: z.string() }),
      risk: "approval",
      idempotent: false,
      execute: (input) => void inputs.push(input),
    });
    const steps: CreatePlaybook["steps"] = [
      { ...run("give", "give"), args: { to: "{{contact.name}}" } },
      { id: "done", type: "send", text: "{{contact.name}}, it is yours.", next: "end" },
      { id: "end", type: "resolve" },
    ];
    const made = await playing(steps, [give]);
    const { contact } = await made.conversation();
    await made.engine.contacts.update(contact.id, { name: "Ann B." });
    await decide(made, decision);
    expect(inputs).toEqual(called);
    expect(await made.replies()).toEqual([told]);
  });
});
