/** The list of all runs that wait for an approval. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { lightStorages, storages } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { agency } from "../world.ts";

const payOut = actionOf({
  name: "pay_out",
  input: z.strictObject({ part: z.number() }),
  risk: "approval",
  idempotent: false,
  execute: () => {},
});

type ListRuns = MessagingEngine["runs"]["list"];

/** An agent that asks for an approval, and once more when the first part is decided. */
async function payments(storage: StoragePort) {
  const made = await agency(storage, {
    actions: [payOut],
    model: ({ calls }) =>
      calls.length < 2 && calls.every(({ outcome }) => outcome.status !== "awaiting_approval")
        ? { calls: [{ action: "pay_out", input: { part: calls.length + 1 } }] }
        : {},
  });
  const { engine, agent, ask, pass } = made;
  /** A contact asks for a payment. Returns the run, which waits. */
  const begin = async (last: number): Promise<string> => {
    const from = `+1500555010${last}`;
    await ask("Pay me", from);
    const { id } = await made.conversation(from);
    const { data } = await engine.conversations.runs(id);
    return data[0]?.id ?? "";
  };
  const decide = async (id: string, decision: "approve" | "deny"): Promise<void> => {
    await engine.agents.approve(agent.id, id, { decision });
    await pass();
  };
  /** The ids of the runs on all pages of two. */
  const waiting = async (list: ListRuns = engine.runs.list): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const filters = { status: "awaiting_approval", limit: 2, cursor } as const;
      const { data, has_more, next_cursor } = await list(filters);
      if (has_more) expect(data, "All pages but the last are full.").toHaveLength(2);
      ids.push(...data.map(({ id }) => id));
      cursor = next_cursor ?? undefined;
    } while (cursor !== undefined);
    return ids;
  };
  return { ...made, begin, decide, waiting };
}

describe.each(storages)("runs that wait for an approval on $name", ({ open }) => {
  test("are listed by their deadlines while they wait, in their account and mode", async () => {
    const { engine, agent, conversation, begin, decide, waiting } = await payments(
      open().connect(),
    );
    const [a, b, c, d] = [await begin(1), await begin(2), await begin(3), await begin(4)];
    expect(await waiting()).toEqual([a, b, c, d]);

    // It waits again, until a later deadline.
    await decide(b, "approve");
    expect(await waiting()).toEqual([a, c, d, b]);
    expect(await waiting((filters) => engine.agents.runs(agent.id, filters))).toEqual([a, c, d, b]);
    await engine.contacts.erase((await conversation("+15005550103")).contact.id);
    expect(await waiting()).toEqual([a, d, b]);
    await engine.agents.remove(agent.id);
    expect(await waiting()).toEqual([a, d, b]);
    await decide(a, "deny");
    expect(await waiting()).toEqual([d, b]);

    const { account } = await engine.accounts.create({ name: "Other" });
    for (const other of [engine.account(account.id), engine.account(undefined, { mode: "live" })]) {
      expect(await waiting(other.runs.list)).toEqual([]);
    }
  });
});

describe.each(lightStorages)("a run that waits for an approval on $name", ({ open }) => {
  test("is on the first page, however many other runs there are", async () => {
    const storage = open().connect();
    const { engine, agent, begin, decide, waiting } = await payments(storage);
    const [ended, waits] = [await begin(1), await begin(2)];
    await decide(ended, "deny");
    await decide(ended, "deny");
    const stored = await rowsOf(storage, runs);
    const row = stored.find(({ id }) => id === ended) ?? expect.fail();
    const { conversation_id } = stored.find(({ id }) => id === waits) ?? expect.fail();
    // More than a list examines for one page.
    for (const prefix of ["run_0", "run_Z"]) {
      const others = Array.from({ length: 1_001 }, (_, n) => ({
        kind: "insert" as const,
        collection: runs,
        row: { ...row, id: `${prefix}${n}`, conversation_id, version: 1 },
      }));
      await storage.begin().commit(others);
    }
    const inConversation: ListRuns = (filters) =>
      engine.conversations.runs(conversation_id, filters);
    const ofAgent: ListRuns = (filters) => engine.agents.runs(agent.id, filters);
    const ofBoth: ListRuns = (filters) =>
      engine.agents.runs(agent.id, { ...filters, conversation_id });
    for (const list of [engine.runs.list, inConversation, ofAgent, ofBoth]) {
      expect(await waiting(list)).toEqual([waits]);
    }
  });
});
