/** Actions that wait for a person to approve them. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { agentSessions, agentTriggers } from "../../../src/agents/rows.ts";
import { runs as runRows } from "../../../src/agents/runs/rows.ts";
import type { Action } from "../../../src/host/actions.ts";
import type { AgentModel } from "../../../src/ports/agent-model.ts";
import type { Policy } from "../../../src/ports/policy.ts";
import { stopped } from "../../support/engines/world.ts";
import { outcome } from "../../support/outcome.ts";
import { rowsOf, tablesWith } from "../../support/storage/rows.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { actionOf, lookUp } from "../actions.ts";
import { agency, survey, visitor, type Agency } from "../world.ts";

const day = 86_400_000;

/** An action that needs an approval. */
function payOut(paid: string[]): Action {
  return actionOf({
    name: "pay_out",
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

function deniesReplies(when: { readonly isOn: boolean }): Policy {
  return {
    name: "no_replies",
    evaluate: ({ message }) =>
      when.isOn && message.author.type === "agent"
        ? { verdict: "deny", code: "no_replies", message: "No replies." }
        : { verdict: "allow" },
  };
}

async function awaitingRunId({ runs }: Agency): Promise<string> {
  const run = (await runs()).findLast(({ status }) => status === "awaiting_approval");
  return run?.id ?? "run_none";
}

/** A contact has asked for money, and its payment waits for an approval. */
async function askedToPay() {
  const paid: string[] = [];
  const made = await agency(memory(), { actions: [payOut(paid)], model: payer });
  await made.ask("Pay me");
  const id = await awaitingRunId(made);
  const { approve } = made.engine.agents;
  const decide = (decision: "approve" | "deny") => approve(made.agent.id, id, { decision });
  return { ...made, paid, id, decide };
}

describe.each(lightStorages)("an approval on $name", ({ open }) => {
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
  test.each<[string, (made: Awaited<ReturnType<typeof askedToPay>>) => Promise<unknown>]>([
    ["denied", ({ decide }) => decide("deny")],
    ["left alone for a day", ({ fastForward }) => fastForward(day)],
  ])("that is %s does not run the action", async (_, end) => {
    const made = await askedToPay();
    const { paid, id, decide } = made;
    await end(made);
    await made.pass();
    expect(paid).toEqual([]);
    expect(await made.replies()).toEqual(["awaiting_approval", "failed: denied"]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "completed" });
    expect(await outcome(decide("approve"))).toBe("conflict");
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

  test("of a triggered playbook whose reply is refused is used once", async () => {
    const paid: string[] = [];
    const denied = { isOn: false };
    const made = await agency(memory(), {
      actions: [payOut(paid)],
      playbooks: [{ ...refund, trigger: { keywords: ["refund"] }, steps: [...refund.steps] }],
      options: { policies: [deniesReplies(denied)] },
    });
    await made.ask("Hello");
    const { contact } = await made.conversation();
    const [playbook_id = ""] = made.agent.playbook_ids;
    await made.engine.agents.trigger(made.agent.id, { contact_id: contact.id, playbook_id });
    await made.pass();
    denied.isOn = true;
    const id = await awaitingRunId(made);
    await made.engine.agents.approve(made.agent.id, id, { decision: "approve" });
    await made.pass();
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "failed" });
    denied.isOn = false;
    expect(await made.ask("Hello?")).toEqual(["You said: Hello?"]);
    expect(paid).toHaveLength(1);
  });

  test("of a call that the model asked for before a playbook began is used, even if the playbook waits for another call", async () => {
    const paid: string[] = [];
    const made = await agency(memory(), {
      actions: [payOut(paid)],
      playbooks: [{ ...refund, trigger: {}, steps: [...refund.steps] }],
      model: (turn, context) => {
        const [playbook] = turn.calls.length === 0 ? [] : turn.playbooks;
        return playbook === undefined ? payer(turn, context) : { playbook_id: playbook.id };
      },
    });
    await made.ask("Pay me five, and seven for the refund");
    const id = await awaitingRunId(made);
    for (const call_id of [`${id}.1`, `${id}.2`]) {
      await made.engine.agents.approve(made.agent.id, id, { decision: "approve", call_id });
      await made.pass();
      expect(paid.at(-1)).toBe(call_id);
    }
    expect(paid).toHaveLength(2);
    expect(await made.replies()).toEqual(["Let me see.", "You got 7 back."]);
  });

  test("of a call that then fails hands off, if a rule says so", async () => {
    const broken = actionOf({
      name: "pay_out",
      risk: "approval",
      execute: () => Promise.reject(new Error("The bank is closed.")),
    });
    const made = await agency(memory(), {
      actions: [broken],
      model: payer,
      agent: { handoff: { rules: [{ on: "action_failure" }], message: "A colleague helps." } },
    });
    await made.ask("Pay me");
    const id = await awaitingRunId(made);
    await made.engine.agents.approve(made.agent.id, id, { decision: "approve" });
    await made.pass();
    expect(await made.replies()).toEqual(["awaiting_approval", "A colleague helps."]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({
      status: "handed_off",
      result: { rule: "action_failure", reason: "pay_out failed." },
    });
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

  test("that a playbook waits for lets no intent start another playbook meanwhile", async () => {
    const move = { ...survey, name: "Move", trigger: { intents: ["move"] } };
    const made = await agency(memory(), {
      actions: [payOut([])],
      playbooks: [{ ...refund, trigger: { keywords: ["refund"] }, steps: [...refund.steps] }, move],
      model: () => ({ intent: "move" }),
      agent: { fallback_text: "Later." },
    });
    await made.ask("I want a refund");
    const id = await awaitingRunId(made);
    expect(await made.ask("Could we do another day?")).toEqual(["Later."]);
    await made.engine.agents.approve(made.agent.id, id, { decision: "approve" });
    await made.pass();
    expect(await made.replies()).toContain("You got 7 back.");
  });

  test("is announced by an event, once for each call that waits", async () => {
    const amounts = [5, 7];
    const { engine, agent, ask, pass, conversation, ...made } = await agency(memory(), {
      actions: [payOut([])],
      model: ({ calls }) =>
        calls.length === 0
          ? { calls: amounts.map((amount) => ({ action: "pay_out", input: { amount } })) }
          : { text: "Somebody looks at it." },
    });
    const asked: unknown[] = [];
    engine.on("agent.run.awaiting_approval", async ({ data }) => {
      const { approval } = await engine.agents.run(data.agent_id, data.run_id);
      asked.push({ ...data, input: approval?.input });
    });
    const start = made.world.clock.now();
    await ask("Pay me twice");
    await pass();
    const [run = expect.fail()] = await made.runs();
    const { id: conversation_id, contact } = await conversation();
    const event = {
      run_id: run.id,
      agent_id: agent.id,
      conversation_id,
      contact_id: contact.id,
      action: "pay_out",
      approve_by: new Date(start + 1_500 + day).toISOString(),
    };
    const first = { ...event, call_id: `${run.id}.1`, input: { amount: 5 } };
    expect(asked).toEqual([first]);
    await engine.agents.approve(agent.id, run.id, { decision: "approve" });
    await pass();
    const second = { ...event, call_id: `${run.id}.2`, input: { amount: 7 } };
    expect(asked).toEqual([first, second]);
    await engine.agents.approve(agent.id, run.id, { decision: "deny" });
    await pass();
    expect(asked).toHaveLength(2);
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

  test("is possible again when an agent that was disabled is enabled", async () => {
    const { engine, agent, paid, decide, pass } = await askedToPay();
    await engine.agents.update(agent.id, { enabled: false });
    await expect(decide("approve")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("disabled"),
    });
    await engine.agents.update(agent.id, { enabled: true });
    await decide("approve");
    await pass();
    expect(paid).toHaveLength(1);
  });

  test("is possible again when a closed conversation is opened", async () => {
    const { engine, paid, decide, pass, conversation } = await askedToPay();
    const { id } = await conversation();
    await engine.conversations.update(id, { status: "closed" });
    await expect(decide("approve")).rejects.toMatchObject({
      code: "conflict",
      message: "The conversation is closed. Open it again first.",
    });
    await engine.conversations.update(id, { status: "open" });
    await decide("approve");
    await pass();
    expect(paid).toHaveLength(1);
  });

  test("is refused after a person has taken over", async () => {
    const { paid, id, decide, ...made } = await askedToPay();
    await made.engine.conversations.reply((await made.conversation()).id, { body: "This is Eve." });
    // The action would not run, so approving it is a conflict. Denying it is allowed.
    expect(await outcome(decide("approve"))).toBe("conflict");
    await decide("deny");
    await made.pass();
    expect(paid).toEqual([]);
    expect(await made.replies()).toEqual(["awaiting_approval"]);
    expect(await made.engine.agents.run(made.agent.id, id)).toMatchObject({ status: "canceled" });
  });
});

describe("an action that is triggered and waits for approval", () => {
  async function waiting() {
    const done: unknown[] = [];
    const storage = memory();
    const there = await agency(storage, { actions: [lookUp("approval", done)] });
    await there.say("Hello");
    await there.pass();
    const { id: conversation_id } = await there.conversation();
    const asked = { conversation_id, action: "look_up", input: { order: "zebulon" } };
    const run = await there.engine.agents.trigger(there.agent.id, asked, {
      idempotencyKey: "trigger",
    });
    await there.pass();
    const own = there.engine.agents;
    const approve = (decision: "approve" | "deny", key = decision as string) =>
      own.approve(there.agent.id, run.id, { decision, author_id: "anna" }, { idempotencyKey: key });
    return { ...there, storage, done, run, own, approve, conversation_id };
  }

  test("is called once when its own run is approved", async () => {
    const { engine, agent, done, run, own, approve, pass } = await waiting();
    expect(await own.run(agent.id, run.id)).toMatchObject({ status: "awaiting_approval" });
    const other = await engine.agents.create({ name: "Bo", channels: ["sms"] });
    expect(await outcome(own.approve(other.id, run.id, { decision: "approve" }))).toBe("not_found");
    expect(await approve("approve")).toMatchObject({
      status: "running",
      steps: [
        {},
        { type: "approval", name: "look_up", input: { author_id: "anna" }, output: "approve" },
      ],
    });
    await pass();
    expect(done).toEqual([{ order: "zebulon" }]);
    expect(await own.run(agent.id, run.id)).toMatchObject({
      status: "completed",
      result: { found: '{"order":"zebulon"}' },
    });
    expect(await outcome(approve("approve", "again"))).toBe("conflict");
    expect(await outcome(approve("approve")), "the same request").toBe("done");
  });

  test("is not called if it is denied or not approved in time", async () => {
    const { agent, done, run, own, approve, pass } = await waiting();
    await approve("deny");
    await pass();
    expect(await own.run(agent.id, run.id)).toMatchObject({
      status: "failed",
      result: { error: "denied" },
    });
    const late = await waiting();
    late.world.clock.step(86_400_000);
    expect(await outcome(late.approve("approve"))).toBe("conflict");
    expect([done, late.done]).toEqual([[], []]);
  });

  test("is deleted with an erased contact: run, session and stored response", async () => {
    const { engine, storage, run, agent, own, approve, pass, conversation } = await waiting();
    await approve("approve");
    await pass();
    const words = ["zebulon", visitor];
    expect(await tablesWith(storage, ["zebulon"])).toEqual(
      expect.arrayContaining(["runs: zebulon", "events: zebulon"]),
    );
    await engine.contacts.erase((await conversation()).contact.id);
    expect(await tablesWith(storage, words)).toEqual([]);
    expect([await rowsOf(storage, runRows), await rowsOf(storage, agentSessions)]).toEqual([
      [],
      [],
    ]);
    expect(await outcome(own.run(agent.id, run.id))).toBe("not_found");
    expect(await outcome(approve("approve"))).toBe("erased");
  });

  test("is deleted with its agent when the sandbox is reset", async () => {
    const { engine, storage, agent, own, approve } = await waiting();
    await engine.sandbox.reset();
    for (const left of [runRows, agentSessions, agentTriggers]) {
      expect([left.name, await rowsOf<object>(storage, left)]).toEqual([left.name, []]);
    }
    expect(await outcome(own.get(agent.id))).toBe("not_found");
    expect(await outcome(approve("approve"))).toBe("not_found");
  });
});
