/** What a run keeps hold of while people, other agents, triggers, approvals and failures come between. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { type Action, action } from "../../src/ports/action.ts";
import type { AgentModel, ModelAnswer } from "../../src/ports/agent-model.ts";
import { outcome } from "../contacts/people.ts";
import { type Agency, agency, echo } from "./world.ts";

const hour = 3_600_000;

const survey = {
  name: "Survey",
  trigger: { keywords: ["survey"] },
  slots: [{ name: "mark", type: "number" as const, required: true, prompt: "From 1 to 5?" }],
  steps: [
    { id: "ask", type: "ask" as const, slot: "mark" },
    { id: "thank", type: "send" as const, text: "Thank you for the {{mark}}." },
  ],
};

function deed(done: unknown[], risk: Action["risk"] = "approval", name = "refund"): Action {
  const execute = (input: unknown): string => {
    done.push(input);
    return "ok";
  };
  return action({ name, description: name, input: z.unknown(), risk, idempotent: false, execute });
}

/** Asks for the calls once, and says what became of the first. */
const calling =
  (...calls: NonNullable<ModelAnswer["calls"]>): AgentModel["respond"] =>
  ({ calls: [made], messages }) => {
    if (!/refund/.test(messages.at(-1)?.text ?? "") && made === undefined) return { text: "Hm." };
    return made === undefined ? { calls } : { text: made.outcome.status };
  };

const refundOf = (n: number): NonNullable<ModelAnswer["calls"]>[number] => ({
  action: "refund",
  input: { n },
});

async function trigger({ engine, agent, conversation }: Agency): Promise<string> {
  const order = {
    conversation_id: (await conversation()).id,
    playbook_id: agent.playbook_ids[0] ?? "",
  };
  return (await engine.agents.trigger(agent.id, order)).id;
}

async function approve({ engine, agent, runs, pass }: Agency): Promise<void> {
  const run = (await runs()).find(({ status }) => status === "awaiting_approval");
  await engine.agents.approve(agent.id, run?.id ?? "", { decision: "approve" });
  await pass(60_000);
}

describe("an action whose outcome nobody knows", () => {
  test.each([
    { idempotent: false, times: 1, error: "outcome_unknown" },
    { idempotent: true, times: 3, error: "timed_out" },
  ])(
    "is not done under a second key (idempotent: $idempotent)",
    async ({ idempotent, times, error }) => {
      const keys: string[] = [];
      const slow = action({
        name: "book",
        description: "Books.",
        input: z.unknown(),
        risk: "write",
        idempotent,
        timeout_ms: 1_000,
        execute(_, { idempotency_key }) {
          keys.push(idempotency_key);
          return new Promise(() => {});
        },
      });
      let asked = 0;
      const made = await agency(memory(), {
        actions: [slow],
        model: () =>
          asked++ < 3 ? { calls: [{ action: "book", input: { day: 1 } }] } : { text: "Hm." },
      });
      await made.say("Book me");
      await made.pass(60_000);
      expect(keys).toHaveLength(times);
      expect(new Set(keys).size).toBe(1);
      expect(made.seen.at(-1)?.calls).toMatchObject([{ outcome: { status: "failed", error } }]);
    },
  );
});

describe("an action that was approved is done", () => {
  test("where a playbook has begun meanwhile, which goes on", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), {
      actions: [deed(done)],
      playbooks: [survey],
      model: calling(refundOf(1)),
    });
    expect(await made.ask("I want a refund")).toEqual(["awaiting_approval"]);
    expect(await made.ask("the survey please")).toEqual(["From 1 to 5?"]);
    await approve(made);
    expect(done).toEqual([{ n: 1 }]);
    expect((await made.replies()).at(-1)).toBe("done");
    expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
  });

  test("where its playbook has been left meanwhile, and the agent lists no actions", async () => {
    const done: unknown[] = [];
    const steps = [
      { id: "pay", type: "run" as const, action: "refund", args: {} },
      { id: "told", type: "send" as const, text: "Refunded." },
    ];
    const made = await agency(memory(), {
      actions: [deed(done)],
      agent: { actions: [] },
      options: { reopenHours: 1 },
      playbooks: [{ name: "Refund", trigger: { keywords: ["refund"] }, steps }],
    });
    await made.ask("refund please");
    await made.pass(2 * hour);
    await made.ask("anybody there?");
    await approve(made);
    expect(done).toHaveLength(1);
  });

  test("as often as it was approved", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), {
      actions: [deed(done)],
      model: calling(refundOf(1), refundOf(1)),
    });
    await made.ask("refund me twice");
    await approve(made);
    expect(done).toHaveLength(1);
    await approve(made);
    expect(done).toHaveLength(2);
  });
});

describe("an action that was ordered has no part in what an agent has in mind", () => {
  test("another one's, when it is approved", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), { actions: [deed(done)], playbooks: [survey] });
    await made.ask("hello");
    const { id } = await made.conversation();
    const run = await made.engine.agents.trigger(made.agent.id, {
      conversation_id: id,
      action: "refund",
    });
    await made.pass();
    const other = await made.engine.agents.create({
      name: "Bea",
      channels: ["sms"],
      playbook_ids: made.agent.playbook_ids,
    });
    await made.engine.conversations.assign(id, { type: "agent", id: other.id });
    await made.ask("survey");
    await made.engine.agents.approve(made.agent.id, run.id, { decision: "approve" });
    await made.pass();
    expect(done).toHaveLength(1);
    await made.ask("4");
    expect((await made.thread()).at(-1)).toMatchObject({
      body: "Thank you for the 4.",
      author: { id: other.id },
    });
  });

  test("another one's, that was given the conversation while it was done", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const sync = action({
      name: "sync",
      description: "Syncs.",
      input: z.unknown(),
      risk: "write",
      idempotent: true,
      execute: () => promise,
    });
    const made = await agency(memory(), { actions: [sync], playbooks: [survey] });
    await made.ask("survey please");
    const { id } = await made.conversation();
    await made.engine.agents.trigger(made.agent.id, { conversation_id: id, action: "sync" });
    await made.pass(1_000);
    const other = await made.engine.agents.create({ name: "Bea", channels: ["sms"] });
    await made.engine.conversations.assign(id, { type: "agent", id: other.id });
    resolve("ok");
    await made.pass(5_000);
    expect(await made.ask("5")).toEqual(["You said: 5"]);
  });
});

describe("a playbook that is ordered", () => {
  test.each([
    [
      "a person has written",
      ({ engine }: Agency, id: string) => engine.conversations.reply(id, { body: "It's Anna." }),
    ],
    [
      "it waited for people",
      ({ engine }: Agency, id: string) => engine.conversations.handOff(id, { reason: "Busy" }),
    ],
  ])("keeps its question where %s before", async (_, meanwhile) => {
    const made = await agency(memory(), { playbooks: [survey] });
    await made.ask("hello there");
    const { id } = await made.conversation();
    await meanwhile(made, id);
    await made.engine.conversations.handBack(id);
    await made.pass();
    await trigger(made);
    await made.pass();
    expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
  });

  test("takes for an answer only what was written after its question", async () => {
    const made = await agency(memory(), { playbooks: [survey] });
    await made.ask("hello");
    await made.say("4 tickets please");
    await trigger(made);
    await made.pass();
    expect((await made.replies()).slice(1)).toEqual(["You said: 4 tickets please", "From 1 to 5?"]);
    expect(await made.ask("3")).toEqual(["Thank you for the 3."]);
  });

  test("is asked after what is written while it is made ready", async () => {
    const { promise, resolve } = Promise.withResolvers<ModelAnswer>();
    const steps = [{ id: "greet", type: "instruct" as const, text: "Greet" }, ...survey.steps];
    const made = await agency(memory(), {
      playbooks: [{ ...survey, steps }],
      model: (turn) => (turn.task.type === "instruct" ? promise : echo(turn)),
    });
    await made.ask("hello");
    const id = await trigger(made);
    await made.pass(3_000);
    await made.say("4 tickets please");
    resolve({ text: "Good day." });
    await made.pass();
    expect((await made.replies()).slice(1)).toEqual([
      "You said: 4 tickets please",
      "Good day.\n\nFrom 1 to 5?",
    ]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "completed" });
    expect(await made.ask("3")).toEqual(["Thank you for the 3."]);
  });

  test("is followed by others, however many, until none is left", async () => {
    const made = await agency(memory(), {
      playbooks: [survey],
      model: () => new Promise(() => {}),
    });
    await made.ask("hello");
    for (let n = 0; n < 60; n++) await trigger(made);
    await made.engine.conversations.reply((await made.conversation()).id, { body: "It's Anna." });
    await made.pass(60_000);
    const runs = await made.runs();
    expect(runs).toHaveLength(61);
    expect(runs.filter(({ status }) => status === "running")).toEqual([]);
  });
});

test("a playbook that waits for an approval takes nothing for an answer until the approval has come to it", async () => {
  const done: unknown[] = [];
  const steps = [
    { id: "pay", type: "run" as const, action: "refund", args: {} },
    { id: "told", type: "send" as const, text: "Refunded." },
  ];
  const made = await agency(memory(), {
    actions: [deed(done)],
    playbooks: [{ name: "Refund", trigger: { keywords: ["refund"] }, steps }],
  });
  await made.ask("refund please");
  await made.say("And how are you?");
  await approve(made);
  expect(await made.replies()).toEqual(["You said: And how are you?", "Refunded."]);
  expect(done).toHaveLength(1);
});

test("two machines come to rest, also where an agent stays when nobody comes", async () => {
  const message = "I'll get a person for you.";
  const made = await agency(memory(), {
    agent: {
      limits: { max_ai_turns: 5 },
      handoff: {
        rules: [{ on: "keyword", value: "person" }],
        message,
        queue_timeout_seconds: 400,
        on_no_humans: "stay_ai",
      },
    },
  });
  for (let n = 0; n < 20; n++) {
    await made.say("I'll get a person for you too.");
    await made.pass(500_000);
  }
  expect((await made.replies()).length).toBeLessThanOrEqual(6);
  expect(await made.conversation()).toMatchObject({ handler: "queue" });
});

test("a turn that can't be ended is given up after five tries, and left to people", async () => {
  let asked = 0;
  const broken = {
    name: "broken",
    evaluate: () => {
      throw new Error("out of order");
    },
  };
  const made = await agency(memory(), {
    model: () => {
      asked++;
      return { text: "Hi." };
    },
    options: { policies: [broken] },
  });
  await made.say("hello");
  await made.pass(hour);
  expect(asked).toBe(5);
  expect(await made.runs()).toMatchObject([{ status: "failed" }]);
  expect(await made.conversation()).toMatchObject({ handler: "queue" });
});

test("an engine that is stopped in haste leaves a turn to the others at once", async () => {
  const storage = memory();
  const made = await agency(storage, { model: () => new Promise(() => {}) });
  await made.say("hello");
  await made.pass(3_000);
  let isStopped = false;
  void made.engine.stop({ deadlineMs: 0 }).then(() => {
    isStopped = true;
  });
  await made.world.clock.advanceUntil(() => isStopped);
  const next = made.world.engine(storage, { transports: [made.line], agents: { model: echo } });
  await next.start();
  await made.pass(6_000);
  expect(made.line.calls.map(({ message: { body } }) => body)).toEqual(["You said: hello"]);
});

test("an agent that is disabled says nothing more, not even what it was thinking of, and leaves what it has to people", async () => {
  const { promise, resolve } = Promise.withResolvers<ModelAnswer>();
  const made = await agency(memory(), { model: () => promise });
  await made.say("hello");
  await made.pass(3_000);
  await made.engine.agents.update(made.agent.id, { enabled: false });
  resolve({ text: "Late words." });
  await made.pass();
  expect(await made.replies()).toEqual([]);
  expect(await made.conversation()).toMatchObject({ handler: "queue" });
  expect(await made.runs()).toMatchObject([{ status: "canceled" }]);
});

test("what nobody would do can't be approved, but for an action that was ordered by itself", async () => {
  const done: unknown[] = [];
  const made = await agency(memory(), { actions: [deed(done)], model: calling(refundOf(1)) });
  await made.ask("refund me");
  const { id } = await made.conversation();
  const [asked] = await made.runs();
  const ordered = await made.engine.agents.trigger(made.agent.id, {
    conversation_id: id,
    action: "refund",
    input: { n: 2 },
  });
  await made.pass();
  await made.engine.conversations.update(id, { status: "closed" });
  const decide = (run_id: string): Promise<unknown> =>
    made.engine.agents.approve(made.agent.id, run_id, { decision: "approve" });
  expect(await outcome(decide(asked?.id ?? ""))).toBe("conflict");
  expect(await outcome(decide(ordered.id))).toBe("done");
  await made.pass();
  expect(done).toEqual([{ n: 2 }]);
});
