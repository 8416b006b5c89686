/** A conversation in which more triggered runs wait than a turn reads at once. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { maxOpenRuns } from "../../../src/agents/runs/open-runs.ts";
import type { Action } from "../../../src/host/actions.ts";
import type { AgentModel } from "../../../src/ports/agent-model.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { held } from "../../support/engines/carrier.ts";
import { isLong } from "../../support/runs.ts";
import { storages, type StorageCase } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { agency, type AgencyOptions } from "../world.ts";

const notice = { name: "Notice", steps: [{ id: "tell", type: "send", text: "A notice" }] } as const;

/** Pays when it is asked to. */
const clerk: AgentModel["respond"] = ({ calls: [call], messages }) => {
  if (call !== undefined) return { text: call.outcome.status };
  const asked = messages.findLast(({ from }) => from === "contact")?.text ?? "";
  return asked.startsWith("Pay") ? { calls: [{ action: "pay", input: {} }] } : { text: "Hello" };
};

const payBy = (execute: Action["execute"]): Action =>
  actionOf({
    name: "pay",
    input: z.strictObject({}),
    risk: "write",
    idempotent: false,
    execute,
  });

/** The agent may reply once a minute, and has just done so. So all runs wait. */
async function backlog(storage: StoragePort, options: Pick<AgencyOptions, "model" | "actions">) {
  const made = await agency(storage, {
    ...options,
    agent: {
      reply: { debounce_ms: 0 },
      limits: { max_replies_per_minute: 1, max_triggers_per_minute: 1_000, timeout_ms: 20_000 },
      handoff: { rules: [] },
    },
    playbooks: [notice],
  });
  const { engine, agent, ask } = made;
  expect(await ask("Good morning")).toEqual(["Hello"]);
  const { id: conversation_id } = await made.conversation();
  const [playbook_id = ""] = agent.playbook_ids;
  await Promise.all(
    Array.from({ length: maxOpenRuns + 1 }, () =>
      engine.agents.trigger(agent.id, { conversation_id, playbook_id }),
    ),
  );
  await made.pass(1_000);
  return { ...made, conversation_id };
}

describe.each<StorageCase>(storages)("behind many triggered runs, on $name", ({ name, open }) => {
  // On PostgreSQL, minutes of virtual time take long.
  const isTried = isLong || name !== "PostgreSQL";

  it.runIf(isTried)("a call that was under way in a crash is not made again", async () => {
    const keys: string[] = [];
    const pay = (execute: () => unknown): Action =>
      payBy((_, { idempotency_key }) => {
        keys.push(idempotency_key);
        return execute();
      });
    const ground = open();
    const { engine, agent, world, line, say, pass } = await backlog(ground.connect(), {
      model: clerk,
      actions: [pay(() => new Promise(() => {}))],
    });
    await say("Pay me");
    await pass(55_000);
    expect(keys).toHaveLength(1);
    void engine.stop({ deadlineMs: 0 });
    const two = await world.started(ground.connect(), {
      transports: [line],
      agents: { model: clerk, actions: [pay(() => "paid")] },
    });
    await pass(300_000);
    const { data } = await two.agents.runs(agent.id, { limit: 100 });
    const answers = data.filter(({ trigger }) => trigger.type === "inbound");
    expect(answers.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(keys).toEqual([`${answers[0]?.id}.1`]);
  });

  it("a call is made once though the contact writes again before the reply", async () => {
    let paid = 0;
    const slow = held<undefined>();
    let isThinking = false;
    const { say, pass, replies } = await backlog(open().connect(), {
      async model(turn, context) {
        if (turn.calls.length > 0 && !isThinking) {
          isThinking = true;
          await slow.promise;
        }
        return clerk(turn, context);
      },
      actions: [payBy(() => void paid++)],
    });
    await say("Pay me");
    await pass(60_000);
    expect(isThinking).toBe(true);
    await say("Pay me, please");
    slow.answer(undefined);
    await pass(10_000);
    expect(paid).toBe(1);
    expect(await replies()).toEqual(["Hello", "done"]);
  });

  it("an answer that has begun is canceled when the conversation is handed back", async () => {
    const slow = held<undefined>();
    let isAsked = false;
    const { engine, say, pass, conversation_id, runs } = await backlog(open().connect(), {
      async model({ messages }) {
        if (messages.at(-1)?.text === "Do you sell chairs?") {
          isAsked = true;
          await slow.promise;
        }
        return { text: "Hello" };
      },
    });
    await say("Do you sell chairs?");
    await pass(60_000);
    expect(isAsked).toBe(true);
    await engine.conversations.handOff(conversation_id, { reason: "A person looks." });
    await engine.conversations.handBack(conversation_id);
    const answers = (await runs()).filter(({ trigger }) => trigger.type !== "api");
    expect(answers.map(({ trigger, status }) => [trigger.type, status])).toEqual([
      ["inbound", "completed"],
      ["inbound", "canceled"],
      ["handback", "running"],
    ]);
    slow.answer(undefined);
  });

  it("a triggered action runs at once, and before the contact is answered", async () => {
    const done: string[] = [];
    const { engine, agent, say, pass, conversation_id } = await backlog(open().connect(), {
      model: () => {
        done.push("answer");
        return { text: "Hello" };
      },
      actions: [payBy(() => void done.push("action"))],
    });
    done.splice(0);
    await say("Are you there?");
    await engine.agents.trigger(agent.id, { conversation_id, action: "pay" });
    await pass(2_000);
    expect(done).toEqual(["action"]);
    await pass(60_000);
    expect(done).toEqual(["action", "answer"]);
  });
});
