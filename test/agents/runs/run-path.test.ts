/** What a run records of its way through playbooks. */
import { expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { Run } from "../../../src/agents/runs/types.ts";
import { stopped } from "../../support/engines/world.ts";
import { actionOf } from "../actions.ts";
import { pathFaults } from "../playbooks/path.ts";
import { agency, type Agency } from "../world.ts";

const booking = {
  name: "Book a table",
  trigger: { keywords: ["table"] },
  slots: [{ name: "guests", type: "number" as const, required: true, prompt: "For how many?" }],
  steps: [
    { id: "hello", type: "send" as const, text: "Gladly." },
    { id: "how_many", type: "ask" as const, slot: "guests", retries: 1, on_fail: "person" },
    {
      id: "size",
      type: "branch" as const,
      cases: [{ when: "guests > 8", next: "person" }],
    },
    { id: "book", type: "run" as const, action: "book", args: {}, on_error: "person" },
    { id: "done", type: "send" as const, text: "Booked.", next: "end" },
    { id: "person", type: "handoff" as const, reason: "A large party." },
    { id: "end", type: "resolve" as const },
  ],
};

const book = (risk: "write" | "approval", execute: () => unknown = () => ({ table: 7 })) =>
  actionOf({
    name: "book",
    input: z.object({}),
    risk,
    execute,
  });

/** The steps of a run, one line each. */
const story = ({ steps }: Run): string[] =>
  steps.map(({ type, name, output, error, playbook }) => {
    const led = playbook && `${playbook.outcome} > ${playbook.next}`;
    return [type, name, led, JSON.stringify(output), error].filter(Boolean).join(" ");
  });

async function lastRun(made: Agency): Promise<Run> {
  const run = (await made.runs()).at(-1);
  if (run === undefined) expect.fail("There is no run.");
  return run;
}

test("runs tell the way through a playbook, turn by turn, between the calls on the way", async () => {
  const made = await agency(memory(), { playbooks: [booking], actions: [book("write")] });
  await made.ask("A table please");
  expect(story(await lastRun(made))).toEqual([
    "playbook hello done > how_many null",
    "playbook how_many asked > null null",
  ]);
  await made.ask("tomorrow");
  expect(story(await lastRun(made))).toEqual([
    "playbook how_many asked_again > null null",
    expect.stringContaining("model extract"),
    expect.stringContaining("model answer"),
  ]);
  await made.ask("5");
  const run = await lastRun(made);
  expect(story(run)).toEqual([
    "playbook how_many answered > size 5",
    "playbook size otherwise > book null",
    "playbook book done > done null",
    'action book {"table":7}',
    "playbook done done > end null",
    "playbook end resolved > null null",
  ]);
  const { data } = await made.engine.playbooks.list();
  expect(run.steps[0]?.playbook).toMatchObject({ id: data[0]?.id, version: 1 });
  // Receivers of the event get the way, and not what the contact said.
  const [{ data: told } = expect.fail()] = (
    await made.engine.events.list({ type: "agent.run.completed" })
  ).data;
  expect("run" in told && told.run.steps[0]).toMatchObject({
    output: null,
    playbook: { outcome: "answered", next: "size" },
  });

  await made.engine.messages.redact(run.trigger.message_ids[0] ?? "");
  const redacted = await lastRun(made);
  expect(redacted.steps.map(({ output, error }) => [output, error])).toEqual(
    run.steps.map(() => [null, null]),
  );
  expect(redacted.steps.map(({ playbook }) => playbook)).toEqual(
    run.steps.map(({ playbook }) => playbook),
  );
});

test("a condition that decided, and a limit that ended a question, are named", async () => {
  const made = await agency(memory(), {
    playbooks: [booking],
    actions: [book("write")],
    model: () => ({}),
  });
  await made.ask("A table please");
  await made.ask("9");
  expect(story(await lastRun(made)).slice(1)).toEqual([
    'playbook size condition > person "guests > 8"',
    "playbook person handed_off > null null",
  ]);
  const bob = "+15005550102";
  await made.ask("A table please", bob);
  await made.ask("tomorrow", bob);
  await made.ask("tomorrow", bob);
  await made.ask("tomorrow", bob);
  const limited = (await made.runs()).flatMap(({ steps }) => steps).filter(({ error }) => error);
  expect(limited).toMatchObject([
    { name: "how_many", error: 'No answer to "guests" was valid.', playbook: { next: "person" } },
  ]);
});

test.each([
  ["approve", 'approval book "approve"', "playbook book done > done null"],
  ["deny", 'approval book "deny"', "playbook book failed > person null book failed."],
  [
    "nobody",
    'approval book "deny" approval_timeout',
    "playbook book failed > person null book failed.",
  ],
] as const)(
  "a step that waits for an approval goes on after the decision: %s",
  async (decision, ...told) => {
    const made = await agency(memory(), { playbooks: [booking], actions: [book("approval")] });
    await made.ask("A table please");
    await made.ask("5");
    const before = await lastRun(made);
    expect(story(before).slice(-2)).toEqual([
      "playbook book awaiting_approval > null null",
      "action book null",
    ]);
    if (decision === "nobody") await made.fastForward(86_400_000);
    else await made.engine.agents.approve(made.agent.id, before.id, { decision });
    await made.pass();
    const after = await lastRun(made);
    expect(after.steps.slice(0, before.steps.length)).toEqual(before.steps);
    expect(story(after).slice(before.steps.length, before.steps.length + 2)).toEqual(told);
  },
);

test("a turn that is taken again has one way: the last one", async () => {
  const faultsOf = ({ steps }: Run) => pathFaults(steps, () => booking);
  let during = async (): Promise<void> => {};
  const slow = book("write", async () => {
    await during();
    return { table: 7 };
  });
  const made = await agency(memory(), { playbooks: [booking], actions: [slow] });
  await made.ask("A table please");
  let seen: Run | undefined;
  during = async () => {
    during = async () => {};
    seen = await lastRun(made);
    await made.say("9");
  };
  await made.ask("5");
  // While the action runs, its step is the present one.
  expect(seen && story(seen)).toEqual([
    "playbook how_many answered > size 5",
    "playbook size otherwise > book null",
    "playbook book null > null null",
  ]);
  const run = await lastRun(made);
  expect(faultsOf(run)).toEqual([]);
  expect(run.steps.filter(({ name }) => name === "how_many")).toHaveLength(1);
});

test("the engine that takes over from one that stopped records the way once", async () => {
  const storage = memory();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const hang = book("write", () => {
    begin();
    return new Promise(() => {});
  });
  const made = await agency(storage, { playbooks: [booking], actions: [hang] });
  await made.ask("A table please");
  await made.say("5");
  const passed = made.pass();
  await begun;
  void made.engine.stop({ deadlineMs: 0 });
  await passed;
  const agents = { model: () => ({}), actions: [book("write")] };
  const next = made.world.engine(storage, { transports: [made.line], agents });
  await next.start();
  await made.pass(120_000);
  const { data } = await next.agents.runs(made.agent.id, { limit: 1 });
  expect(data.map(story)).toEqual([
    [
      "playbook how_many answered > size 5",
      "playbook size otherwise > book null",
      "playbook book done > done null",
      'action book {"table":7}',
      "playbook done done > end null",
      "playbook end resolved > null null",
    ],
  ]);
  await stopped(next, made.world.clock);
});
