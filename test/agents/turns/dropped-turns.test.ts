/**
 * What is recorded of a turn that a person ends, and of a call that is under way meanwhile; and
 * what becomes of a turn that the storage cannot store.
 */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import { action, type Action } from "../../../src/host/actions.ts";
import { TidingsError } from "../../../src/kernel/errors.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { AgentModel, ModelAnswer } from "../../../src/ports/agent-model.ts";
import type { Policy } from "../../../src/ports/policy.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { held } from "../../support/engines/carrier.ts";
import { mortal, withGroups } from "../../support/storage/groups.ts";
import { tablesWith } from "../../support/storage/rows.ts";
import { agency, echo, type Agency } from "../world.ts";

const usage = { input_tokens: 30, output_tokens: 10 };

/** Calls the action with what the contact wrote. */
const clerk: AgentModel["respond"] = ({ calls, messages }) =>
  calls.length === 0
    ? { calls: [{ action: "pay", input: { what: messages.at(-1)?.text ?? "" } }], usage }
    : { text: "Paid.", usage };

function pay(risk: Action["risk"], execute: Action["execute"]): Action {
  const input = z.strictObject({ what: z.string() });
  return action({ name: "pay", description: "Pays.", input, risk, idempotent: false, execute });
}

async function takeOver({ engine, conversation }: Agency): Promise<void> {
  await engine.conversations.reply((await conversation()).id, { body: "This is Eve." });
}

async function handBack({ engine, conversation }: Agency): Promise<void> {
  await engine.conversations.handBack((await conversation()).id);
}

describe("a turn that is dropped because a person takes over", () => {
  test("keeps its steps, and its tokens count", async () => {
    const gate = held<{ readonly text: string; readonly usage: typeof usage }>();
    const made = await agency(memory(), {
      model: () => gate.promise,
      agent: { limits: { max_tokens_per_conversation: 40 } },
    });
    await made.say("Hello");
    await made.pass(3_000);
    await takeOver(made);
    gate.answer({ text: "Too late.", usage });
    await made.pass();
    expect(await made.runs()).toMatchObject([
      {
        status: "canceled",
        steps: [{ type: "model", output: { text: "Too late." } }],
        usage: { ...usage, model_calls: 1 },
      },
    ]);
    await handBack(made);
    await made.ask("Hello?");
    expect(await made.conversation(), "the budget is used up").toMatchObject({ handler: "queue" });
    expect(made.seen).toHaveLength(1);
  });

  test("counts its tokens, also if the agent has the conversation back before the model answers", async () => {
    const gate = held<{ readonly text: string; readonly usage: typeof usage }>();
    const made = await agency(memory(), {
      model: () => gate.promise,
      agent: { limits: { max_tokens_per_conversation: 40 } },
    });
    await made.say("Hello");
    await made.pass(3_000);
    const { id } = await made.conversation();
    await made.engine.conversations.handOff(id, { reason: "Help" });
    await handBack(made);
    gate.answer({ text: "Too late.", usage });
    await made.pass();
    expect(await made.runs()).toMatchObject([
      { status: "canceled", steps: [], usage: { ...usage, model_calls: 1 } },
      { status: "handed_off", usage: { model_calls: 0 } },
    ]);
    expect(made.seen, "the budget is used up").toHaveLength(1);
  });

  test.each(["read", "write"] as const)(
    "tells what it called, and how that ended: %s",
    async (risk) => {
      const gate = held<Record<string, number>>();
      const made = await agency(memory(), {
        model: clerk,
        actions: [pay(risk, () => gate.promise)],
      });
      await made.say("Pay me");
      await made.pass(3_000);
      await takeOver(made);
      gate.answer({ amount: 5 });
      await made.pass();
      expect(await made.replies()).toEqual([]);
      const [run] = await made.runs();
      expect(run?.status).toBe("canceled");
      expect(run?.steps.filter(({ type }) => type === "action")).toMatchObject([
        { name: "pay", input: { what: "Pay me" }, output: { amount: 5 }, error: null },
      ]);
    },
  );
});

test("a run shows the version of the agent that answered, even if it began with an earlier version", async () => {
  const gate = held<ModelAnswer>();
  const made = await agency(memory(), {
    agent: { instructions: "Be kind." },
    model: ({ agent }) =>
      agent.instructions === "Be kind." ? gate.promise : { text: agent.instructions },
  });
  await made.say("Hello");
  await made.pass(3_000);
  await made.engine.agents.update(made.agent.id, { instructions: "Be brief." });
  const { id } = await made.conversation();
  await made.engine.conversations.update(id, { status: "closed" });
  await made.say("Are you there?");
  gate.answer({ text: "Hello!" });
  await made.pass();
  expect(await made.replies()).toEqual(["Be brief."]);
  expect(await made.runs()).toMatchObject([{ status: "completed", agent_version: 2 }]);
});

describe("a run that is canceled during a call", () => {
  async function canceled(storage = memory()) {
    const gate = held<Record<string, string>>();
    const made = await agency(storage, {
      model: clerk,
      actions: [pay("write", () => gate.promise)],
    });
    const message = await made.say("Send it to Kumquat Lane");
    await made.pass(3_000);
    await takeOver(made);
    await handBack(made);
    expect(await made.runs()).toMatchObject([{ status: "canceled" }]);
    return { made, message, gate };
  }

  test("tells how the call ended", async () => {
    const { made, gate } = await canceled();
    gate.answer({ to: "Kumquat Lane" });
    await made.pass();
    const [run] = await made.runs();
    expect(run?.steps.at(-1)).toMatchObject({
      type: "action",
      input: { what: "Send it to Kumquat Lane" },
      output: { to: "Kumquat Lane" },
    });
  });

  test("does so without words if a message was redacted in the meantime", async () => {
    const storage = memory();
    const { made, message, gate } = await canceled(storage);
    await made.engine.messages.redact(message.id);
    expect(await tablesWith(storage, ["Kumquat"])).toEqual([]);
    gate.answer({ to: "Kumquat Lane" });
    await made.pass();
    expect(await tablesWith(storage, ["Kumquat"])).toEqual([]);
    const [run] = await made.runs();
    expect(run?.steps.at(-1)).toMatchObject({
      type: "action",
      name: "pay",
      input: null,
      output: null,
    });
  });
});

test("a turn that fails is reported with its own error if its tokens cannot be saved", async () => {
  const { storage, dieAfter } = mortal(memory());
  const broken: Policy = {
    name: "broken",
    async evaluate() {
      // The command that asked for the verdict has ended then.
      await setImmediate();
      dieAfter(0);
      throw new Error("the rule is broken");
    },
  };
  const { say, pass, world } = await agency(storage, {
    model: () => ({ text: "Hello", usage }),
    options: { policies: [broken] },
  });
  await say("Hello");
  await pass(3_000);
  const told = world.log.map(({ facts, message }) => [
    message,
    "err" in facts && String(facts.err),
  ]);
  expect(told).toEqual([
    ["a policy failed", expect.anything()],
    ["the tokens of a failed turn were not saved", expect.stringContaining("storage is away")],
    ["a job failed; retrying", expect.stringContaining("policy broken failed")],
  ]);
});

/** Fails the commits of replies with the error, if there is one. */
function refusingReplies(error: () => TidingsError | undefined): StoragePort<undefined> {
  const storage = memory();
  return withGroups(storage, {
    async commit(writes, group) {
      const isReply = writes.some(
        (write) =>
          write.collection === messages &&
          write.kind === "insert" &&
          write.row["direction"] === "outbound",
      );
      const refusal = isReply ? error() : undefined;
      if (refusal === undefined) return group.commit(writes);
      await group.abort();
      throw refusal;
    },
  });
}

test.each([
  ["40 s", 40_000],
  ["an hour", 3_600_000],
])(
  "a turn that the storage cannot store for %s is logged and costs one call of the model, and the agent keeps the conversation",
  async (_, ms) => {
    let isFull = true;
    const full = new TidingsError("storage_unavailable", "The disk is full.");
    const storage = refusingReplies(() => (isFull ? full : undefined));
    const made = await agency(storage);
    await made.say("Hello");
    // The first engine has the turn when another one starts.
    await made.pass(1);
    const other = vi.fn<AgentModel["respond"]>(echo);
    await made.world.started(storage, {
      transports: [made.line],
      agents: { model: { respond: other } },
    });
    await made.pass(ms);
    expect(await made.replies()).toEqual([]);
    const { log } = made.world;
    const failure = "the outcome of an agent's turn could not be stored; retrying";
    const lines = log.filter(({ message }) => message === failure).length;
    expect(lines).toBeGreaterThanOrEqual(ms / 90_000);
    expect(lines).toBeLessThanOrEqual(ms / 60_000 + 1);
    isFull = false;
    await made.pass(5_000);
    expect(log.at(-1)?.message).toBe("the outcomes of agents' turns can be stored again");
    expect(await made.replies()).toEqual(["You said: Hello"]);
    expect([made.seen.length, other.mock.calls.length]).toEqual([1, 0]);
    expect(await made.conversation()).toMatchObject({ handler: "ai" });
  },
);

test("outages of the storage do not count among the failures after which people get a conversation", async () => {
  let [isDown, isBroken] = [true, true];
  const fragile: Policy = {
    name: "fragile",
    evaluate() {
      if (isBroken) throw new Error("the rule is broken");
      return { verdict: "allow" };
    },
  };
  const storage = memory();
  const own = withGroups(storage, {
    async commit(writes, group) {
      if (!isDown || !writes.some(({ collection }) => collection === runs)) {
        return group.commit(writes);
      }
      await group.abort();
      throw new TidingsError("storage_unavailable", "The disk is full.");
    },
  });
  const made = await agency(own, { options: { policies: [fragile] } });
  await made.say("Hello");
  await made.pass(60_000);
  isDown = false;
  await made.pass(5_000);
  expect(made.seen).toHaveLength(3);
  isBroken = false;
  await made.pass(10_000);
  expect(await made.replies()).toEqual(["You said: Hello"]);
});

test("people get a conversation whose replies a damaged storage cannot store, and the model is called no more", async () => {
  const damaged = new TidingsError("storage_damaged", "A page of the file is damaged.");
  const made = await agency(refusingReplies(() => damaged));
  await made.say("Hello");
  await made.pass(120_000);
  expect(await made.conversation()).toMatchObject({ handler: "queue" });
  expect(made.seen).toHaveLength(5);
});
