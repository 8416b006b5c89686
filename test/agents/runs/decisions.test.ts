/** Decisions about the calls of a run, by people who may have a stale view of it. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { Run } from "../../../src/agents/runs/types.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { call, jsonOf } from "../../api/call.ts";
import { outcome } from "../../support/outcome.ts";
import { everyEvent } from "../../support/pages.ts";
import { overtaken, writesTo } from "../../support/storage/groups.ts";
import { lightStorages, storages, type Ground } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { agency } from "../world.ts";

type Decide = (decision: "approve" | "deny", call_id?: string) => Promise<string>;

/** A run that has asked to pay 5, and then 7. It waits for the decision about the first call. */
async function openRun({ connect }: Ground) {
  const paid: number[] = [];
  const payOut = actionOf({
    name: "pay_out",
    input: z.strictObject({ amount: z.number() }),
    risk: "approval",
    idempotent: false,
    execute: ({ amount }) => void paid.push(amount),
  });
  const made = await agency(connect(), {
    actions: [payOut],
    model: ({ calls }) =>
      calls.length === 0
        ? { calls: [5, 7].map((amount) => ({ action: "pay_out", input: { amount } })) }
        : { text: "Somebody looks at it." },
  });
  await made.ask("Pay me twice");
  const [{ id } = expect.fail()] = await made.runs();
  const read = (): Promise<Run> => made.engine.agents.run(made.agent.id, id);
  const decideIn =
    ({ agents }: MessagingEngine): Decide =>
    (decision, call_id) =>
      outcome(agents.approve(made.agent.id, id, { decision, call_id }));
  return { ...made, connect, id, paid, read, decideIn };
}

/** The same decision over HTTP. The outcome is the code of the problem. */
async function decideOverHttp({ engine, agent, id }: Awaited<ReturnType<typeof openRun>>) {
  const { secret } = await engine.apiKeys.create({ name: "desk" });
  const path = `/v1/agents/${agent.id}/runs/${id}/approve`;
  const decide: Decide = async (decision, call_id) => {
    const request = { method: "POST", path, key: secret, body: { decision, call_id } };
    const answer = await call(engine.api, request);
    const { code } = jsonOf(answer);
    return answer.status === 200 ? "done" : `${answer.status} ${String(code)}`;
  };
  return decide;
}

const decisionsOf = ({ steps }: Run) =>
  steps.filter(({ type }) => type === "approval").map(({ input, output }) => ({ input, output }));

const decided = (call_id: string, output: "approve" | "deny") => ({
  input: { call_id, author_id: null },
  output,
});

describe.each(storages)("a decision on $name", ({ open }) => {
  test("about a call that no longer waits is refused, and changes nothing", async () => {
    const made = await openRun(open());
    const { engine, paid, pass, read, decideIn } = made;
    const first = (await read()).approval;
    expect(first).toEqual({ call_id: `${made.id}.1`, action: "pay_out", input: { amount: 5 } });
    const second = { ...first, call_id: `${made.id}.2`, input: { amount: 7 } };
    expect((await read()).later_approvals).toEqual([second]);
    const decide = decideIn(engine);
    expect(await decide("approve", first?.call_id)).toBe("done");
    await pass();
    expect(paid).toEqual([5]);
    const before = await read();
    expect([before.approval, before.later_approvals]).toEqual([second, []]);

    // A colleague still sees the first call.
    for (const decision of ["approve", "deny"] as const) {
      expect(await decide(decision, first?.call_id)).toBe("conflict");
    }
    const { data: published } = await engine.events.list();
    await pass();
    expect(await read()).toEqual(before);
    expect((await engine.events.list()).data).toEqual(published);

    expect(await decide("deny", before.approval?.call_id)).toBe("done");
    await pass();
    expect(paid).toEqual([5]);
    expect(decisionsOf(await read())).toEqual([
      decided(`${made.id}.1`, "approve"),
      decided(`${made.id}.2`, "deny"),
    ]);
  });

  test("can name any call that waits, and the others wait on", async () => {
    const made = await openRun(open());
    const { engine, id, paid, pass, read, decideIn } = made;
    const decide = decideIn(engine);
    const first = (await read()).approval;
    expect(await decide("approve", `${id}.2`)).toBe("done");
    await pass();
    const after = await read();
    expect([paid, after.status, after.approval]).toEqual([[7], "awaiting_approval", first]);
    expect(await decide("deny", `${id}.2`)).toBe("conflict");
    expect(await decide("deny", first?.call_id)).toBe("done");
    await pass();
    expect([paid, (await read()).status]).toEqual([[7], "completed"]);
  });

  test("that another one and the run's next turn overtake is not about the next call", async () => {
    const made = await openRun(open());
    const { connect, engine, world, paid, pass, read, decideIn, line } = made;
    const { approval } = await read();
    const slow = overtaken(connect(), writesTo(runs), async () => {
      expect(await decideIn(engine)("deny", approval?.call_id)).toBe("done");
      await pass();
    });
    const other = world.engine(slow, { transports: [line] });
    expect(await decideIn(other)("approve", approval?.call_id)).toBe("conflict");
    await pass();
    const after = await read();
    expect([after.status, after.approval?.input]).toEqual(["awaiting_approval", { amount: 7 }]);
    expect(decisionsOf(after)).toEqual([decided(`${made.id}.1`, "deny")]);
    expect(paid).toEqual([]);
  });

  test("of two people at the same time counts once", async () => {
    const made = await openRun(open());
    const { connect, engine, world, paid, pass, read, decideIn, line } = made;
    const { approval } = await read();
    const other = world.engine(connect(), { transports: [line] });
    const outcomes = await Promise.all([
      decideIn(engine)("approve", approval?.call_id),
      decideIn(other)("deny", approval?.call_id),
    ]);
    expect(outcomes.toSorted()).toEqual(["conflict", "done"]);
    const isApproved = outcomes[0] === "done";
    await pass();
    const after = await read();
    expect(decisionsOf(after)).toEqual([decided(`${made.id}.1`, isApproved ? "approve" : "deny")]);
    expect(after.approval?.input).toEqual({ amount: 7 });
    expect(paid).toEqual(isApproved ? [5] : []);
  });
});

describe.each(lightStorages)("a decision over HTTP on $name", ({ open }) => {
  test("is about the call that it names, or else about the oldest that waits", async () => {
    const made = await openRun(open());
    const { paid, pass, read } = made;
    const decide = await decideOverHttp(made);
    const first = (await read()).approval?.call_id;
    expect(await decide("deny", "run_unknown.1")).toBe("409 conflict");
    expect(await decide("approve", first)).toBe("done");
    expect(await decide("deny", first)).toBe("409 conflict");
    await pass();
    expect(await decide("deny", first)).toBe("409 conflict");
    expect(paid).toEqual([5]);
    expect(await decide("approve")).toBe("done");
    await pass();
    expect(paid).toEqual([5, 7]);
  });
});

const day = 86_400_000;

describe.each(lightStorages)("the event of a decision on $name", ({ open }) => {
  /** What the event log says of a run since it began to wait. */
  async function eventsOf({ engine, id }: Awaited<ReturnType<typeof openRun>>) {
    const all = await everyEvent(engine);
    return all.flatMap(({ type, data }): readonly unknown[] => {
      if (type === "agent.run.completed" && data.run.id === id) return [data.run.status];
      if (type === "agent.run.awaiting_approval") return [`waits for ${data.call_id}`];
      return type === "agent.run.approval_decided" ? [data] : [];
    });
  }

  test("says who decided what, or that nobody did in time", async () => {
    const made = await openRun(open());
    const { engine, agent, id: run_id, pass, fastForward, conversation } = made;
    const live: unknown[] = [];
    engine.on("agent.run.approval_decided", ({ data }) => void live.push(data));
    const decision = { decision: "approve", author_id: "eve" } as const;
    await engine.agents.approve(agent.id, run_id, decision);
    await pass();
    await fastForward(day);
    const { id: conversation_id, contact } = await conversation();
    const about = { run_id, agent_id: agent.id, conversation_id, contact_id: contact.id };
    const [first, second] = [`${run_id}.1`, `${run_id}.2`];
    const approved = { ...about, ...decision, call_id: first, action: "pay_out", error: null };
    const denied = {
      ...approved,
      call_id: second,
      decision: "deny",
      author_id: null,
      error: "approval_timeout",
    };
    expect(await eventsOf(made)).toEqual([
      `waits for ${first}`,
      approved,
      `waits for ${second}`,
      denied,
      "completed",
    ]);
    expect(live).toEqual([approved, denied]);
  });

  test("says that the run ended before anybody decided", async () => {
    const made = await openRun(open());
    const { engine, id, pass, decideIn, conversation } = made;
    await engine.conversations.reply((await conversation()).id, { body: "This is Eve." });
    expect(await decideIn(engine)("deny")).toBe("done");
    await pass();
    expect(await eventsOf(made)).toMatchObject([
      `waits for ${id}.1`,
      { call_id: `${id}.1`, decision: "deny", error: null },
      { call_id: `${id}.2`, decision: "deny", author_id: null, error: "run_ended" },
      "canceled",
    ]);
  });
});
