/** Models of every temper: whatever one does, each turn ends in its time as a reply, a hand-off or the fallback text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { messages } from "../../src/messages/rows.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import { type Action, action } from "../../src/ports/action.ts";
import type { AgentModel, Json, ModelAnswer, ModelCall } from "../../src/ports/agent-model.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { rowsOf } from "../contacts/rows.ts";
import { storages } from "../support/storages.ts";
import { type Agency, agency } from "./world.ts";

type Respond = AgentModel["respond"];

const timeout_ms = 5_000;
/** A burst's pause, what the turn may take, and as much as a commit or two. */
const oneTurn = 1_500 + timeout_ms + 500;
const fallback = "Somebody will get back to you.";
const signature = "Ada";
const max_chars = 300;
/** Bytes of a run as it is kept: of a hundred steps at the very most, each with what an action was given and answered. */
const mostKept = 4_000_000;

const anything = action({
  name: "anything",
  description: "Takes anything.",
  input: z.unknown(),
  risk: "write",
  idempotent: false,
  execute: () => ({ ok: true }),
});

const playbook = {
  name: "Greeting",
  slots: [{ name: "who", type: "text", required: true, prompt: "Who is it?" }],
  steps: [
    { id: "ask", type: "ask", slot: "who" },
    { id: "greet", type: "send", text: "Hello {{who}}" },
  ],
} as const;

async function tempered(
  storage: StoragePort,
  model: Respond,
  actions: readonly Action[] = [anything],
) {
  const made = await agency(storage, {
    model,
    actions,
    agent: {
      fallback_text: fallback,
      reply: { signature, max_chars },
      handoff: { rules: [] },
      limits: { timeout_ms, max_steps_per_turn: 8 },
    },
    playbooks: [{ ...playbook, slots: [...playbook.slots], steps: [...playbook.steps] }],
  });
  return { ...made, storage };
}

/** One turn with what is said; answers what the contact was told. */
async function turnOf(
  { say, replies, conversation, engine, agent, world, storage }: Agency & { storage: StoragePort },
  from: string,
) {
  await say("Hello there, anybody?", from);
  const began = world.clock.now();
  await world.clock.advance(oneTurn);
  const told = await replies(from);
  const { handler, id } = await conversation(from);
  const { data } = await engine.agents.runs(agent.id, { conversation_id: id });
  expect(world.clock.now() - began).toBeLessThanOrEqual(oneTurn);
  expect(told.length === 1 || (told.length === 0 && handler === "queue")).toBe(true);
  expect(data.map(({ status }) => status)).toEqual([
    handler === "queue" ? "handed_off" : "completed",
  ]);
  for (const each of told) {
    expect([...each].length).toBeLessThanOrEqual(max_chars + 1 + signature.length);
  }
  const kept = (await rowsOf(storage, runs)).find(({ conversation_id }) => conversation_id === id);
  expect(JSON.stringify(kept).length).toBeLessThan(mostKept);
  expect(kept?.steps.length).toBeLessThanOrEqual(100);
  expect(kept?.calls.length).toBeLessThanOrEqual(50);
  return { told: told[0] ?? null, handler, run: kept };
}

const mega = "lorem ipsum ".repeat(90_000);
const nested = (levels: number): Json =>
  JSON.parse("[".repeat(levels) + "]".repeat(levels)) as Json;
const circular: Record<string, unknown> = {};
circular["self"] = circular;
const calls = (count: number): ModelAnswer => ({
  calls: Array.from({ length: count }, (_, n) => ({ action: "anything", input: { n } })),
});
const as =
  (answer: unknown): Respond =>
  () =>
    answer as ModelAnswer;

const silentOnes: Record<string, Respond> = {
  "never answers": () => new Promise(() => {}),
  throws: () => {
    throw new Error("no");
  },
  rejects: () => Promise.reject(new Error("no")),
  "answers nothing": as(undefined),
  "answers with what can't be read": as(
    new Proxy(
      {},
      {
        get() {
          throw new Error("no");
        },
      },
    ),
  ),
  "answers in circles": as({ calls: [{ action: "anything", input: circular }] }),
  "answers with blanks": as({ text: " \n\0 " }),
  "answers itself": as(circular),
  "calls what there isn't": as({ calls: [{ action: "transfer_money", input: {} }] }),
  "calls actions for ever": as(calls(1)),
  "calls a thousand actions": as(calls(1_000)),
  "calls what no database keeps": as({
    calls: [{ action: "any\0thing\ud800", input: { "\0": "\ud800" } }],
  }),
  "hands over a megabyte to an action": as({ calls: [{ action: "anything", input: mega }] }),
  "calls an action very deeply": as({ calls: [{ action: "anything", input: nested(2_000) }] }),
  "starts a playbook that isn't there": as({ playbook_id: "pb_01KDVDNA00WQJNRJAHHES6D1BV" }),
  "starts a playbook with a megabyte": as({ playbook_id: mega }),
  "answers in lists": as([{ text: "Hello" }]),
};

describe("a model that", () => {
  test.each(Object.entries(silentOnes))(
    "%s has the contact told the fallback text",
    async (_, model) => {
      const ada = await tempered(memory(), model);
      expect((await turnOf(ada, "+15005550101")).told).toBe(`${fallback}\n${signature}`);
      // The next one finds nothing in its way.
      expect((await turnOf(ada, "+15005550102")).told).toBe(`${fallback}\n${signature}`);
    },
  );

  test("is late is not heard, and told so", async () => {
    let aborted = 0;
    const ada: Agency & { storage: StoragePort } = await tempered(
      memory(),
      async (_, { signal }) => {
        signal.addEventListener("abort", () => void aborted++);
        await ada.world.clock.sleep(60_000);
        return { text: "Too late" };
      },
    );
    expect((await turnOf(ada, "+15005550101")).told).toBe(`${fallback}\n${signature}`);
    expect(aborted).toBe(1);
    await ada.pass(120_000);
    expect(await ada.replies()).toHaveLength(1);
  });

  test("babbles is cut short", async () => {
    const observed = Array.from({ length: 1_000 }, () => ({ content: mega, kind: mega }));
    const ada = await tempered(
      memory(),
      as({ text: mega, intent: mega, observations: observed, slots: { who: mega } }),
    );
    const { told } = await turnOf(ada, "+15005550101");
    expect(told).toMatch(/^lorem ipsum .*…\nAda$/su);
    const { contact } = await ada.conversation();
    const { data } = await ada.engine.contacts.observations(contact.id, { limit: 100 });
    expect(data.map(({ content, kind }) => [content.length, kind.length])).toEqual(
      Array.from({ length: 10 }, () => [2_000, 64]),
    );
  });

  test("babbles at people is cut short", async () => {
    const ada = await tempered(memory(), as({ handoff: { reason: mega, summary: mega } }));
    const { handler, run } = await turnOf(ada, "+15005550101");
    expect([handler, JSON.stringify(run).length < 10_000]).toEqual(["queue", true]);
  });

  test("counts wrongly is charged nothing, or what it says", async () => {
    for (const [n, [given, input]] of (
      [
        [-5, 0],
        [Number.NaN, 0],
        [1.5, 0],
        ["7", 0],
        [7, 7],
      ] as const
    ).entries()) {
      const ada = await tempered(
        memory(),
        as({ text: "Yes.", usage: { input_tokens: given, output_tokens: 0 } }),
      );
      const { told, run } = await turnOf(ada, `+1500555010${n}`);
      expect([told, run?.input_tokens]).toEqual([`Yes.\n${signature}`, input]);
    }
  });

  test("answers anything ends its turn all the same", async () => {
    let answer: unknown;
    const ada = await tempered(memory(), () => answer as ModelAnswer);
    let people = 0;
    const part = (sound: fc.Arbitrary<unknown>) =>
      fc.oneof({ weight: 2, arbitrary: sound }, fc.anything());
    const text = fc.string({ unit: "binary", maxLength: 1_000 });
    const answers = fc.oneof(
      fc.anything({
        withBigInt: true,
        withNullPrototype: true,
        withObjectString: true,
        withSparseArray: true,
      }),
      fc.record(
        {
          text: part(text),
          confidence: part(fc.double()),
          intent: part(text),
          playbook_id: part(fc.constantFrom(...ada.agent.playbook_ids)),
          slots: part(fc.dictionary(text, fc.jsonValue())),
          calls: part(
            fc.array(
              fc.record({ action: part(fc.constant("anything")), input: part(fc.jsonValue()) }),
            ),
          ),
          handoff: part(fc.record({ reason: part(text) })),
          observations: part(fc.array(fc.record({ content: part(text), kind: part(text) }))),
          usage: part(
            fc.record({ input_tokens: part(fc.integer()), output_tokens: part(fc.integer()) }),
          ),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(answers, async (given) => {
        answer = given;
        await turnOf(ada, `+1500666${String(people++).padStart(4, "0")}`);
      }),
      { numRuns: 25 },
    );
    expect(people).toBeGreaterThanOrEqual(25);
  });
});

function toldOf(call: ModelCall | undefined): string {
  if (call?.outcome.status === "failed") return call.outcome.error;
  const { said, literally } = (
    call?.outcome.status === "done" ? call.outcome.output : null
  ) as Record<string, string>;
  return `${said} ${literally}`;
}

describe.each(storages)("on $name", ({ open }) => {
  test("what no database keeps as text is left out, whoever says it", async () => {
    const bad = "a\0b\ud800c";
    const answers: ModelAnswer[] = [
      {
        text: bad,
        observations: [{ content: bad, kind: bad }],
        intent: bad,
        handoff: { reason: bad, summary: bad },
      },
      { calls: [{ action: "tell", input: { [bad]: bad, deep: nested(1_000) } }] },
      { playbook_id: "", slots: { who: bad } },
    ];
    const tell = action({
      name: "tell",
      description: "Says what it must not.",
      input: z.unknown(),
      risk: "write",
      idempotent: false,
      execute: () => ({ said: bad, literally: String.raw`\u0000`, deep: nested(1_000) }),
    });
    const fail = action({
      name: "fail",
      description: "Fails in words that nobody can keep.",
      input: z.unknown(),
      risk: "write",
      idempotent: false,
      execute: () => {
        throw new Error(`${bad}${"😀".repeat(300)}`);
      },
    });
    let turn = -1;
    const ada = await tempered(
      open().connect(),
      ({ calls: made }) => {
        if (made.length > 0) return { text: toldOf(made[0]) };
        if (turn === 3) return { calls: [{ action: "fail", input: null }] };
        const answer = answers[turn] ?? {};
        return "playbook_id" in answer
          ? { ...answer, playbook_id: ada.agent.playbook_ids[0] }
          : answer;
      },
      [tell, fail],
    );
    const told: (string | null)[] = [];
    for (turn = 0; turn < 4; turn++) told.push((await turnOf(ada, `+1500555010${turn}`)).told);
    expect(told[0]).toBe(`Thank you. A colleague will get back to you.\n${signature}`);
    expect(told[1]).toBe(`ab\ufffdc \\u0000\n${signature}`);
    expect(told[2]).toMatch(/^Hello ab\ufffd?c\nAda$/u);
    expect(told[3]).toMatch(/^ab\ufffdc(?:😀)+…\nAda$/u);
    for (const row of await rowsOf(ada.storage, messages)) {
      expect(row.body?.isWellFormed()).toBe(true);
    }
  });

  test("words that break in the middle of a character are told to people whole", async () => {
    const ada = await tempered(open().connect(), as({ handoff: { reason: "Help" } }));
    const handed: string[] = [];
    ada.engine.on(
      "conversation.handoff",
      ({ data }) => void handed.push("summary" in data ? data.summary : ""),
    );
    await ada.ask(`a${"😀".repeat(400)}`);
    expect(handed.map((summary) => summary.isWellFormed())).toEqual([true]);
  });
});
