/** With every kind of faulty model, a turn ends in time with a reply, hand-off or fallback text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { languageModel } from "../../../adapters/models/index.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { Action } from "../../../src/host/actions.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { AgentModel, Json, ModelAnswer, ModelCall } from "../../../src/ports/agent-model.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { agency, type Agency } from "../world.ts";

type Respond = AgentModel["respond"];

const timeout_ms = 5_000;
/** The debounce pause, the turn's time-out, and time for its commits. */
const oneTurn = 1_500 + timeout_ms + 500;
const fallback = "Somebody will get back to you.";
const signature = "Ada";
const max_chars = 300;
/** The maximum bytes of a stored run: 100 steps with the input and output of an action each. */
const maxRunBytes = 4_000_000;

const wrongFields =
  "fields of a model's answer are ignored, because they have a wrong form or name";

test.each<[string, unknown, readonly object[]]>([
  [
    "a string",
    "Hello",
    [{ message: "a model failed", facts: { err: { message: isNot("a string") } } }],
  ],
  [
    "nothing",
    undefined,
    [{ message: "a model failed", facts: { err: { message: isNot("undefined") } } }],
  ],
  [
    "a number",
    41790001111,
    [{ message: "a model failed", facts: { err: { message: isNot("a number") } } }],
  ],
  ["a number as its text", { text: 5 }, [{ message: wrongFields, facts: { fields: ["text"] } }]],
  [
    "calls as another library has them",
    { calls: [{ name: "find", arguments: {} }] },
    [
      {
        message: wrongFields,
        facts: {
          fields: ["calls"],
          expected: expect.stringContaining("calls: [{ action, input }]"),
        },
      },
    ],
  ],
  [
    "true as its hand-off",
    { handoff: true },
    [{ message: wrongFields, facts: { fields: ["handoff"] } }],
  ],
  [
    "several mistakes",
    { text: "Hi", confidence: 7, calls: {}, usage: { input_tokens: 5, output_tokens: NaN } },
    [{ message: wrongFields, facts: { fields: ["confidence", "calls", "usage.output_tokens"] } }],
  ],
  [
    "no field that the engine knows",
    { reply: "Hi", "I am ill": 1, usage: { input_tokens: 5, output_tokens: 1 } },
    [{ message: wrongFields, facts: { fields: ["reply", "a field whose name is no word"] } }],
  ],
  ["null for what it lacks", { text: "Hi", calls: null, handoff: null, other: 1 }, []],
  ["nothing to say", {}, []],
])(
  "a model that answers with %s is logged with the names of what is wrong",
  async (_, answer, lines) => {
    const { ask, world } = await agency(memory(), { model: async () => answer as ModelAnswer });
    await ask("Hello?");
    expect(world.log).toMatchObject(lines.map((line) => ({ level: "warn", ...line })));
  },
);

test("why the answer of a language model cannot be used is logged", async () => {
  const { ask, world } = await agency(memory(), {
    model: languageModel({
      specificationVersion: "v3",
      provider: "local",
      modelId: "small",
      doGenerate: async () => ({
        content: [{ type: "text", text: "We op" }],
        finishReason: { unified: "length" },
        usage: { inputTokens: { total: 9 }, outputTokens: { total: 2 } },
      }),
    }),
  });
  await ask("When do you open?");
  const err = { message: 'the language model did not finish its answer: finish reason "length"' };
  expect(world.log).toMatchObject([{ level: "warn", message: "a model failed", facts: { err } }]);
});

function isNot(kind: string): unknown {
  return expect.stringMatching(
    new RegExp(`^the model must return an object with fields of \\{ text, .* \\}, got ${kind}$`),
  );
}

const anything = actionOf({
  name: "anything",
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

async function agencyWith(
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

/** Runs one turn, checks its limits, and returns the reply. */
async function nextPick(
  { say, replies, conversation, engine, agent, world, storage }: Agency & { storage: StoragePort },
  from: string,
) {
  await say("Hello there, anybody?", from);
  const began = world.clock.now();
  await world.clock.advance(oneTurn);
  const told = await replies(from);
  const { handler, id } = await conversation(from);
  const { data } = await engine.agents.runs(agent.id, { conversation_id: id });
  expect(world.clock.now() - began, `A turn ends within ${oneTurn} ms.`).toBeLessThanOrEqual(
    oneTurn,
  );
  expect(
    told.length === 1 || (told.length === 0 && handler === "queue"),
    `One reply, or people take over: ${told.length} replies, and the handler is ${handler}.`,
  ).toBe(true);
  expect(data.map(({ status }) => status)).toEqual([
    handler === "queue" ? "handed_off" : "completed",
  ]);
  for (const each of told) {
    expect([...each].length, "A reply is not longer than the agent allows.").toBeLessThanOrEqual(
      max_chars + 1 + signature.length,
    );
  }
  const kept = (await rowsOf(storage, runs)).find(({ conversation_id }) => conversation_id === id);
  expect(
    JSON.stringify(kept).length,
    `A run is stored in less than ${maxRunBytes} bytes.`,
  ).toBeLessThan(maxRunBytes);
  expect(kept?.steps.length, "A run keeps at most 100 steps.").toBeLessThanOrEqual(100);
  expect(kept?.calls.length, "A run keeps at most 50 calls.").toBeLessThanOrEqual(50);
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

const modelsWithoutAnswer: Record<string, Respond> = {
  "never answers": () => new Promise(() => {}),
  throws: () => {
    throw new Error("no");
  },
  rejects: () => Promise.reject(new Error("no")),
  "returns undefined": as(undefined),
  "returns an object that throws": as(
    new Proxy(
      {},
      {
        get() {
          throw new Error("no");
        },
      },
    ),
  ),
  "returns circular input": as({ calls: [{ action: "anything", input: circular }] }),
  "returns a blank text": as({ text: " \n\0 " }),
  "returns a text that shows nothing": as({ text: "\u200B\u2060" }),
  "returns a circular answer": as(circular),
  "calls an unknown action": as({ calls: [{ action: "transfer_money", input: {} }] }),
  "calls an action forever": as(calls(1)),
  "calls a thousand actions": as(calls(1_000)),
  "calls with text that no database stores": as({
    calls: [{ action: "any\0thing\ud800", input: { "\0": "\ud800" } }],
  }),
  "calls an action with a megabyte": as({ calls: [{ action: "anything", input: mega }] }),
  "calls an action with deeply nested input": as({
    calls: [{ action: "anything", input: nested(2_000) }],
  }),
  "starts an unknown playbook": as({ playbook_id: "pb_01KDVDNA00WQJNRJAHHES6D1BV" }),
  "starts a playbook with a megabyte": as({ playbook_id: mega }),
  "returns a list": as([{ text: "Hello" }]),
};

describe("a model that", () => {
  test.each(Object.entries(modelsWithoutAnswer))(
    "%s gives the contact the fallback text",
    async (_, model) => {
      const ada = await agencyWith(memory(), model);
      expect((await nextPick(ada, "+15005550101")).told).toBe(`${fallback}\n${signature}`);
      // The next turn is not affected.
      expect((await nextPick(ada, "+15005550102")).told).toBe(`${fallback}\n${signature}`);
    },
  );

  test("is late has its call aborted and its answer ignored", async () => {
    let aborted = 0;
    const ada: Agency & { storage: StoragePort } = await agencyWith(
      memory(),
      async (_, { signal }) => {
        signal.addEventListener("abort", () => void aborted++);
        await ada.world.clock.sleep(60_000);
        return { text: "Too late" };
      },
    );
    expect((await nextPick(ada, "+15005550101")).told).toBe(`${fallback}\n${signature}`);
    expect(aborted).toBe(1);
    await ada.pass(120_000);
    expect(await ada.replies()).toHaveLength(1);
  });

  test("returns a megabyte of text has its reply and observations cut", async () => {
    const observed = Array.from({ length: 1_000 }, () => ({ content: mega, kind: mega }));
    const ada = await agencyWith(
      memory(),
      as({ text: mega, intent: mega, observations: observed, slots: { who: mega } }),
    );
    const { told } = await nextPick(ada, "+15005550101");
    expect(told).toMatch(/^lorem ipsum .*…\nAda$/su);
    const { contact } = await ada.conversation();
    const { data } = await ada.engine.contacts.observations(contact.id, { limit: 100 });
    expect(data.map(({ content, kind }) => [content.length, kind.length])).toEqual(
      Array.from({ length: 10 }, () => [2_000, 64]),
    );
  });

  test("returns a megabyte of hand-off summary has it cut", async () => {
    const ada = await agencyWith(memory(), as({ handoff: { reason: mega, summary: mega } }));
    const { handler, run } = await nextPick(ada, "+15005550101");
    expect([handler, JSON.stringify(run).length < 10_000]).toEqual(["queue", true]);
  });

  test("returns an invalid token count is charged nothing for it", async () => {
    for (const [n, [given, input]] of (
      [
        [-5, 0],
        [Number.NaN, 0],
        [1.5, 0],
        ["7", 0],
        [7, 7],
      ] as const
    ).entries()) {
      const ada = await agencyWith(
        memory(),
        as({ text: "Yes.", usage: { input_tokens: given, output_tokens: 0 } }),
      );
      const { told, run } = await nextPick(ada, `+1500555010${n}`);
      expect([told, run?.input_tokens]).toEqual([`Yes.\n${signature}`, input]);
    }
  });

  test("fails after it has taken tokens is charged for them, and hands off at the budget", async () => {
    const error = Object.assign(new Error("cut off"), {
      usage: { input_tokens: 90, output_tokens: 10 },
    });
    const { ask, runs, conversation } = await agency(memory(), {
      model: () => Promise.reject(error),
      agent: { fallback_text: fallback, limits: { max_tokens_per_conversation: 150 } },
    });
    expect([await ask("Hello?"), await ask("Anybody?")].flat()).toEqual([fallback, fallback]);
    expect((await runs()).map((run) => run.usage)).toEqual([
      { input_tokens: 90, output_tokens: 10, model_calls: 1 },
      { input_tokens: 90, output_tokens: 10, model_calls: 1 },
    ]);
    await ask("Still nobody?");
    expect(await conversation()).toMatchObject({ handler: "queue" });
  });

  test("returns an arbitrary value ends its turn in time", async () => {
    let answer: unknown;
    const ada = await agencyWith(memory(), () => answer as ModelAnswer);
    let people = 0;
    const part = (sound: fc.Arbitrary<unknown>) =>
      fc.oneof({ weight: 2, arbitrary: sound }, fc.anything());
    const text = fc.string({ unit: anyCharacter, maxLength: 1_000 });
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
        await nextPick(ada, `+1500666${String(people++).padStart(4, "0")}`);
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

describe.each(lightStorages)("on $name", ({ open }) => {
  test("text that no database stores is cleaned, in replies, observations and action results", async () => {
    const bad = "a\0b\ud800c";
    const answers: ModelAnswer[] = [
      {
        text: bad,
        observations: [{ content: bad, kind: bad }],
        intent: bad,
        handoff: { reason: bad, summary: bad },
      },
      { calls: [{ action: "tell", input: { [bad]: bad, deep: nested(99) } }] },
      { playbook_id: "", slots: { who: bad } },
    ];
    const tell = actionOf({
      name: "tell",
      risk: "write",
      idempotent: false,
      execute: () => ({ said: bad, literally: String.raw`\u0000`, deep: nested(99) }),
    });
    const fail = actionOf({
      name: "fail",
      risk: "write",
      idempotent: false,
      execute: () => {
        throw new Error(`${bad}${"😀".repeat(300)}`);
      },
    });
    let turn = -1;
    const ada = await agencyWith(
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
    for (turn = 0; turn < 4; turn++) told.push((await nextPick(ada, `+1500555010${turn}`)).told);
    expect(told[0]).toBe(`Thank you. A colleague will get back to you.\n${signature}`);
    expect(told[1]).toBe(`ab\ufffdc \\u0000\n${signature}`);
    expect(told[2]).toMatch(/^Hello ab\ufffd?c\nAda$/u);
    expect(told[3]).toMatch(/^ab\ufffdc(?:😀)+…\nAda$/u);
    for (const row of await rowsOf(ada.storage, messages)) {
      expect(row.body?.isWellFormed()).toBe(true);
    }
  });

  test("a hand-off summary is never cut inside a character", async () => {
    const ada = await agencyWith(open().connect(), as({ handoff: { reason: "Help" } }));
    const handed: string[] = [];
    ada.engine.on(
      "conversation.handoff",
      ({ data }) => void handed.push("summary" in data ? data.summary : ""),
    );
    await ada.ask(`a${"😀".repeat(400)}`);
    expect(handed.map((summary) => summary.isWellFormed())).toEqual([true]);
  });
});
