/** Runs that have read a message which is redacted. */
import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { outcome } from "../../support/outcome.ts";
import { tablesWith } from "../../support/storage/rows.ts";
import { lookUp } from "../actions.ts";
import { agency } from "../world.ts";

describe("a message that an agent has read", () => {
  it("is redacted in the agent's runs, their events and deliveries, once the runs have ended", async () => {
    const storage = memory();
    const client = { send: () => Promise.reject(new Error("nobody is there")), close() {} };
    const { engine, agent, say, ask, thread, conversation } = await agency(storage, {
      options: { http: { client } },
      actions: [lookUp("read"), { ...lookUp("approval"), name: "refund" }],
      model: ({ calls, messages }) => {
        const said = messages.at(-1)?.text ?? "";
        const wish = said.includes("back") ? "refund" : "look_up";
        return calls.length === 0
          ? { calls: [{ action: wish, input: { said } }] }
          : { text: "Thank you!" };
      },
    });
    await engine.webhooks.create({ url: "https://example.com/hooks", events: ["*"] });
    await ask("My card is 4000 zebulon");
    await ask("And nothing else");
    const [message] = await thread();
    const tables = ["deliveries", "events", "message_words", "messages", "runs"];
    const told = tables.map((table) => `${table}: zebulon`);
    expect((await tablesWith(storage, ["zebulon"])).toSorted()).toEqual(told);

    await say("I want it back");
    expect(await outcome(engine.messages.redact(message?.id ?? "")), "no turn has begun yet").toBe(
      "done",
    );
    expect(await tablesWith(storage, ["zebulon"])).toEqual([]);
    const { data } = await engine.agents.runs(agent.id);
    expect(data.at(-1)).toMatchObject({
      status: "completed",
      steps: [
        { type: "model", output: null },
        { type: "action", name: "look_up", input: null, output: null },
        { type: "model", output: null },
      ],
      usage: { model_calls: 2 },
    });
    const { data: events } = await engine.events.list({ type: "agent.run.completed" });
    expect(events.at(-1)?.data).toEqual({ run: data.at(-1) });

    await ask("Now!");
    const last = (await thread()).findLast(({ direction }) => direction === "inbound");
    await ask("I want it back");
    const [open] = (await engine.agents.runs(agent.id, { status: "awaiting_approval" })).data;
    await expect(engine.messages.redact(last?.id ?? "")).rejects.toMatchObject({
      code: "conflict",
      conflictingId: open?.id,
    });
    await engine.agents.approve(agent.id, open?.id ?? "", { decision: "deny" });
    expect((await conversation()).handler).toBe("ai");
  });

  it("is redacted in a run that answered more messages than its history shows", async () => {
    const storage = memory();
    const { engine, say, pass, thread } = await agency(storage, {
      agent: {
        handoff: {
          rules: [{ on: "keyword", value: ["zebulon"] }],
          on_no_humans: "leave_message",
        },
      },
    });
    await say("My card is 4000 zebulon");
    for (let i = 0; i < 35; i++) await say(`And ${i}`);
    await pass(600_000);
    const event = async () => (await engine.events.list({ type: "conversation.handoff" })).data;
    expect(JSON.stringify(await event())).toContain("zebulon");
    const first = (await thread()).find(({ body }) => body?.includes("zebulon"));
    await engine.messages.redact(first?.id ?? "");
    expect(JSON.stringify(await event())).not.toContain("zebulon");
  });
});
