/** Runs that people, other agents, triggers, approvals or failures interrupt. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { action, type Action } from "../../../src/host/actions.ts";
import type { AgentModel, ModelAnswer } from "../../../src/ports/agent-model.ts";
import { outcome } from "../../support/outcome.ts";
import { cases } from "../../support/runs.ts";
import { actionOf } from "../actions.ts";
import { agency, echo, survey, type Agency } from "../world.ts";

const hour = 3_600_000;
const day = 24 * hour;

function recordedAction(
  done: unknown[],
  risk: Action["risk"] = "approval",
  name = "refund",
): Action {
  const execute = (input: unknown): string => {
    done.push(input);
    return "ok";
  };
  return action({ name, description: name, input: z.unknown(), risk, idempotent: false, execute });
}

/** Makes the calls once, and then replies with the outcome of the first. */
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

describe("an action with an unknown outcome", () => {
  test.each([
    { idempotent: false, times: 1, error: "outcome_unknown" },
    { idempotent: true, times: 3, error: "timed_out" },
  ])(
    "is never called with a second idempotency key (idempotent: $idempotent)",
    async ({ idempotent, times, error }) => {
      const keys: string[] = [];
      const slow = actionOf({
        name: "book",
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

describe("an approved action is called", () => {
  test("if a playbook has begun meanwhile, and the playbook continues", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), {
      actions: [recordedAction(done)],
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

  test("if its playbook has ended meanwhile and the agent lists no actions", async () => {
    const done: unknown[] = [];
    const steps = [
      { id: "pay", type: "run" as const, action: "refund", args: {} },
      { id: "told", type: "send" as const, text: "Refunded." },
    ];
    const made = await agency(memory(), {
      actions: [recordedAction(done)],
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

  test("once per approval", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), {
      actions: [recordedAction(done)],
      model: calling(refundOf(1), refundOf(1)),
    });
    await made.ask("refund me twice");
    await approve(made);
    expect(done).toHaveLength(1);
    await approve(made);
    expect(done).toHaveLength(2);
  });
});

describe("a triggered action does not change the session", () => {
  test("of another agent when it is approved", async () => {
    const done: unknown[] = [];
    const made = await agency(memory(), { actions: [recordedAction(done)], playbooks: [survey] });
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

  test("of another agent that was assigned the conversation during the call", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const sync = actionOf({
      name: "sync",
      risk: "write",
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

describe("a triggered playbook", () => {
  test.each([
    [
      "a person has written",
      ({ engine }: Agency, id: string) => engine.conversations.reply(id, { body: "It's Anna." }),
    ],
    [
      "the conversation was handed off",
      ({ engine }: Agency, id: string) => engine.conversations.handOff(id, { reason: "Busy" }),
    ],
  ])("keeps its question open if %s before", async (_, meanwhile) => {
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

  test("accepts only messages after its question as the answer", async () => {
    const made = await agency(memory(), { playbooks: [survey] });
    await made.ask("hello");
    await made.say("4 tickets please");
    await trigger(made);
    await made.pass();
    expect((await made.replies()).slice(1)).toEqual(["You said: 4 tickets please", "From 1 to 5?"]);
    expect(await made.ask("3")).toEqual(["Thank you for the 3."]);
  });

  test("asks its question after answering messages that came while it was prepared", async () => {
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

  test("does not block the triggers behind it: 60 runs all end", async () => {
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

test("each call waits for its decision for a day, also if another call of the run is decided", async () => {
  const done: unknown[] = [];
  const made = await agency(memory(), {
    actions: [recordedAction(done)],
    model: calling(refundOf(1), refundOf(2), refundOf(3)),
  });
  await made.ask("refund please");
  await made.fastForward(23 * hour);
  await approve(made);
  const [{ status, approval } = expect.fail()] = await made.runs();
  expect([status, approval?.input]).toEqual(["awaiting_approval", { n: 2 }]);
  await made.fastForward(hour);
  const [run = expect.fail()] = await made.runs();
  expect(run.status).toBe("completed");
  expect(done).toEqual([{ n: 1 }]);
  const decisions = run.steps.filter(({ type }) => type === "approval");
  expect(decisions.map(({ output, error }) => [output, error])).toEqual([
    ["approve", null],
    ["deny", "approval_timeout"],
    ["deny", "approval_timeout"],
  ]);
});

test("a playbook that waits for an approval does not take a message as its answer", async () => {
  const done: unknown[] = [];
  const steps = [
    { id: "pay", type: "run" as const, action: "refund", args: {} },
    { id: "told", type: "send" as const, text: "Refunded." },
  ];
  const made = await agency(memory(), {
    actions: [recordedAction(done)],
    playbooks: [{ name: "Refund", trigger: { keywords: ["refund"] }, steps }],
  });
  await made.ask("refund please");
  await made.say("And how are you?");
  await approve(made);
  expect(await made.replies()).toEqual(["You said: And how are you?", "Refunded."]);
  expect(done).toHaveLength(1);
});

test("the loop guard ends a loop, also with on_no_humans stay_ai", async () => {
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

test("a turn whose end fails five times is handed off to people, and all its tokens count", async () => {
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
      return { text: "Hi.", usage: { input_tokens: 30, output_tokens: 10 } };
    },
    options: { policies: [broken] },
  });
  await made.say("hello");
  await made.pass(hour);
  expect(asked).toBe(5);
  const usage = { input_tokens: 150, output_tokens: 50, model_calls: 5 };
  expect(await made.runs()).toMatchObject([{ status: "failed", usage }]);
  expect(await made.conversation()).toMatchObject({ handler: "queue" });
});

test("disabling an agent discards its pending reply and hands its conversations to people", async () => {
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

test("a run of a closed conversation cannot be approved, except a triggered action", async () => {
  const done: unknown[] = [];
  const made = await agency(memory(), {
    actions: [recordedAction(done)],
    model: calling(refundOf(1)),
  });
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

test("runs name their messages, and can be read when their agent is deleted", async () => {
  const { engine, agent, ask, thread, runs } = await agency(memory());
  await ask("Hello");
  await ask("Again");
  const before = await runs();
  const sent = (await thread()).filter(({ author }) => author.type === "agent");
  expect(sent).toHaveLength(2);
  expect(before.map(({ message_ids }) => message_ids)).toEqual(sent.map(({ id }) => [id]));
  const { data: events } = await engine.events.list({ type: "agent.run.completed" });
  expect(events.map(({ data }) => data).toReversed()).toMatchObject(
    before.map(({ message_ids }) => ({ run: { message_ids } })),
  );

  const { id: idle } = await engine.agents.create({ name: "Bo", channels: ["sms"] });
  await engine.agents.remove(agent.id);
  await engine.agents.remove(idle);
  expect(await runs(), "of the deleted agent").toEqual(before);
  const [run] = before;
  const { data } = await engine.agents.runs(agent.id, { status: "completed", limit: 1 });
  expect(data).toEqual(before.slice(1));
  expect([
    await outcome(engine.agents.get(agent.id)),
    await outcome(engine.agents.run(agent.id, `run_${"0".repeat(26)}`)),
    await outcome(engine.agents.run(idle, run?.id ?? "")),
    await outcome(engine.agents.runs(idle)),
    await outcome(engine.agents.runs(`agt_${"0".repeat(26)}`)),
  ]).toEqual(Array.from({ length: 5 }, () => "not_found"));
});

const retentions = [
  { eventRetentionDays: 1, keptDays: 1 },
  // A redaction finds the events of a run by the run.
  { eventRetentionDays: 2, keptDays: 2 },
];

test.each(cases(retentions, ({ keptDays }) => keptDays === 1))(
  "an ended run is removed after runRetentionDays, and not before its events: $keptDays days",
  async ({ eventRetentionDays, keptDays }) => {
    const made = await agency(memory(), {
      options: { runRetentionDays: 1, eventRetentionDays, idempotencyHours: 720 },
      actions: [recordedAction([], "read")],
    });
    const { engine, agent, ask, pass, fastForward, runs } = made;
    await ask("Hello");
    const { id: conversation_id } = await made.conversation();
    const trigger = () =>
      engine.agents.trigger(
        agent.id,
        { conversation_id, action: "refund", input: {} },
        { idempotencyKey: "k" },
      );
    await trigger();
    await fastForward(keptDays * day - 60_000);
    const before = await runs();
    expect(before).toHaveLength(2);
    await ask("Are you there?");
    await fastForward(hour);
    expect(await runs()).toMatchObject([{ status: "completed", trigger: { type: "inbound" } }]);
    expect(await outcome(engine.agents.run(agent.id, before[0]?.id ?? ""))).toBe("not_found");
    expect(await outcome(trigger()), "its stored response went with it").toBe("erased");
    // More runs than one pass reads, and an agent that no longer exists.
    for (let n = 0; n < 210; n++) {
      await engine.agents.trigger(agent.id, { conversation_id, action: "refund", input: {} });
      if (n % 70 === 0) await pass(60_000);
    }
    await fastForward(hour);
    await engine.agents.remove(agent.id);
    await fastForward((keptDays + 1) * day);
    expect(await outcome(engine.agents.runs(agent.id))).toBe("not_found");
  },
);
