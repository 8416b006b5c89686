import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { world } from "../../support/engines/world.ts";
import { outcome } from "../../support/outcome.ts";

/** Two agents and two conversations, and runs of both agents, newest first. */
async function office() {
  const { engine } = world();
  const made = engine(memory(), { agents: { model: () => ({}) } });
  const { agents, playbooks, conversations } = made;
  const step = { id: "greet", type: "send", text: "Hello" } as const;
  const { id: playbook_id } = await playbooks.create({ name: "Greet", steps: [step] });
  await playbooks.update(playbook_id, { enabled: true });
  const agent = async (name: string): Promise<string> =>
    (await agents.create({ name, channels: ["sms"] })).id;
  const open = async (to: string): Promise<string> => (await conversations.open({ to })).id;
  const [ada, bo] = [await agent("Ada"), await agent("Bo")];
  const [one, two] = [await open("+15005551001"), await open("+15005551002")];
  const runs: string[] = [];
  const triggers: readonly (readonly [string, string])[] = [
    [ada, one],
    [bo, two],
    [ada, one],
    [ada, two],
  ];
  for (const [id, conversation_id] of triggers) {
    if (id === ada && conversation_id === two) {
      await conversations.assign(two, null);
      await conversations.assign(two, { type: "agent", id: ada });
    }
    runs.unshift((await agents.trigger(id, { conversation_id, playbook_id })).id);
  }
  return { agents, list: made.runs.list, conversations, ada, bo, one, two, runs };
}

const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }): string[] =>
  data.map(({ id }) => id);

describe("runs are listed newest first", () => {
  it("by agent, status and conversation", async () => {
    const { agents, ada, bo, one, runs } = await office();
    const [last, third, second, first] = runs;
    expect(idsOf(await agents.runs(ada))).toEqual([last, third, first]);
    expect(idsOf(await agents.runs(bo))).toEqual([second]);
    expect(idsOf(await agents.runs(ada, { conversation_id: one }))).toEqual([third, first]);
    expect(idsOf(await agents.runs(bo, { conversation_id: one }))).toEqual([]);
    expect(idsOf(await agents.runs(ada, { status: "running", limit: 2 }))).toEqual([last, third]);
    expect(idsOf(await agents.runs(ada, { status: "completed" }))).toEqual([]);
    expect(await outcome(agents.run(bo, first ?? ""))).toBe("not_found");
  });

  it("of all agents, and also those of a removed one", async () => {
    const { agents, list, ada, runs } = await office();
    await agents.remove(ada);
    expect(idsOf(await list())).toEqual(runs);
    expect(idsOf(await list({ status: "running" }))).toEqual(runs);
    expect(idsOf(await list({ status: "awaiting_approval" }))).toEqual([]);
    const first = await list({ limit: 3 });
    expect(idsOf(first)).toEqual(runs.slice(0, 3));
    expect(idsOf(await list({ limit: 3, cursor: first.next_cursor ?? "" }))).toEqual(runs.slice(3));
  });

  it("by conversation, whichever agent has them, and also once it is removed", async () => {
    const { agents, conversations, ada, one, two, runs } = await office();
    const [last, third, second, first] = runs;
    await agents.remove(ada);
    expect(idsOf(await conversations.runs(one))).toEqual([third, first]);
    expect(idsOf(await conversations.runs(two))).toEqual([last, second]);
    expect(idsOf(await conversations.runs(two, { status: "running" }))).toEqual([last, second]);
    expect(idsOf(await conversations.runs(two, { status: "completed" }))).toEqual([]);
    expect(await conversations.runs(two, { limit: 1 })).toMatchObject({ has_more: true });
    expect(await outcome(conversations.runs("conv_unknown"))).toBe("not_found");
  });
});
