import { languageModel, type LanguageModel } from "tidings/models";
import { describe, expect, it } from "vitest";
import type { ModelAction, ModelTurn } from "../../../src/ports/agent-model.ts";
import { specifications, type Reply } from "./mocks.ts";
import { never, nextPick, type Said } from "./turns.ts";

const usage = { input_tokens: 120, output_tokens: 7 };
const findSlots: ModelAction = {
  name: "find_slots",
  description: "Free times of a day.",
  input_schema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
};
const knowledge = [
  { title: "Hours", text: "Open 9 to 6.", relevance: 0.9 },
  { title: "Prices", text: "A haircut is $40.", relevance: 0.4 },
];
const playbook = {
  id: "pb_1",
  name: "Complaint",
  description: "Takes it down.",
  intents: ["complaint"],
  when: null,
};
const canned = { ...nextPick([]).agent, reply: { mode: "canned_strict" as const, max_chars: 320 } };
const hello: Said = [["contact", "Are you open today?"]];

describe.each(specifications)("a language model of specification %s", (_, make) => {
  const ask = async (turn: ModelTurn, ...replies: readonly Reply[]) => {
    const { model, asked } = make(...replies);
    const answer = await languageModel(model).respond(turn, { signal: never });
    return { answer, asked: asked[0] };
  };

  it("calls an action, gets its outcome, and answers", async () => {
    const { model, asked } = make(
      { calls: [{ name: "find_slots", input: { day: "2026-05-05" } }] },
      { calls: [{ name: "_reply", input: { text: "10:00 is free.", confidence: 0.9 } }] },
    );
    const agent = languageModel(model, {
      temperature: 0.2,
      maxOutputTokens: 300,
      providerOptions: { mock: { a: 1 } },
    });
    const said: Said = [
      ["host", "Your appointment is tomorrow."],
      ["contact", "Can I come earlier?"],
      ["contact", "Tuesday?"],
    ];
    const turn = nextPick(said, { actions: [findSlots] });

    const first = await agent.respond(turn, { signal: never });
    expect(first).toEqual({
      calls: [{ action: "find_slots", input: { day: "2026-05-05" } }],
      usage,
    });

    const outcome = { status: "done", output: { times: ["10:00"] } } as const;
    const calls = [{ id: "run_1:1", action: "find_slots", input: { day: "2026-05-05" }, outcome }];
    const second = await agent.respond({ ...turn, calls }, { signal: never });
    expect(second).toEqual({ text: "10:00 is free.", confidence: 0.9, usage });

    const place = { toolCallId: "call00000", toolName: "find_slots" };
    expect(asked[1]).toMatchObject({
      temperature: 0.2,
      maxOutputTokens: 300,
      providerOptions: { mock: { a: 1 } },
    });
    expect(asked[1]?.tools?.map(({ name }) => name)).toEqual(["find_slots", "_reply", "_handoff"]);
    expect(asked[1]?.prompt.slice(1)).toEqual([
      { role: "user", content: [{ type: "text", text: "<note>The business wrote first.</note>" }] },
      { role: "assistant", content: [{ type: "text", text: "Your appointment is tomorrow." }] },
      { role: "user", content: [{ type: "text", text: "Can I come earlier?\nTuesday?" }] },
      {
        role: "assistant",
        content: [{ type: "tool-call", ...place, input: { day: "2026-05-05" } }],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", ...place, output: { type: "json", value: { times: ["10:00"] } } },
        ],
      },
    ]);
  });

  it("gets the outcome of a failed call and of one that awaits approval", async () => {
    const call = { id: "a", action: "find_slots", input: {} };
    const calls = [
      { ...call, outcome: { status: "failed", error: "no such day" } as const },
      { ...call, outcome: { status: "awaiting_approval" } as const },
    ];
    const { asked } = await ask(nextPick(hello, { calls }), { text: "Soon." });
    const outputs = asked?.prompt.flatMap((message) =>
      message.role === "tool" ? message.content.map(({ output }) => output) : [],
    );
    expect(outputs?.[0]).toEqual({ type: "error-text", value: "no such day" });
    expect(JSON.stringify(outputs?.[1])).toMatch(/approve/);
  });

  it("can answer with plain text", async () => {
    expect((await ask(nextPick(hello), { text: " Yes, until six. " })).answer).toEqual({
      text: "Yes, until six.",
      usage,
    });
  });

  it("hands off, starts a playbook, names an intent and records observations", async () => {
    const turn = nextPick(hello, { playbooks: [playbook], intents: ["complaint"] });
    const one = (name: string, input: unknown) =>
      ask(turn, { calls: [{ name, input }] }).then(({ answer }) => answer);
    expect(await one("_handoff", { reason: "angry", summary: "Wants money." })).toEqual({
      handoff: { reason: "angry", summary: "Wants money." },
      usage,
    });
    expect(await one("_handoff", {})).toMatchObject({
      handoff: { reason: expect.stringContaining("person") as string },
    });
    expect(await one("_start_playbook", { playbook_id: "pb_1" })).toEqual({
      playbook_id: "pb_1",
      usage,
    });
    const noticed = { content: "Has a dog", kind: "fact", confidence: 0.8 };
    const observations = [noticed, "nonsense", null, { content: "x" }];
    expect(await one("_reply", { text: "Sorry!", intent: "complaint", observations })).toEqual({
      text: "Sorry!",
      intent: "complaint",
      observations: [noticed],
      usage,
    });
  });

  it("finds a slot with a tool that it has to call", async () => {
    const slot = { name: "size", type: "text", enum: ["s", "m"], prompt: "Which size?" } as const;
    const turn = nextPick(hello, {
      task: { type: "extract", slot },
      actions: [findSlots],
      playbooks: [playbook],
    });
    const { answer, asked } = await ask(turn, {
      calls: [{ name: "_slot", input: { value: "m" } }],
    });
    expect(answer).toEqual({ slots: { size: "m" }, usage });
    expect(asked?.toolChoice).toEqual({ type: "tool", toolName: "_slot" });
    expect(asked?.tools).toHaveLength(1);
    expect((await ask(turn, { calls: [{ name: "_slot", input: {} }] })).answer).toEqual({ usage });
    expect((await ask(turn, { text: "m, I think" })).answer).toEqual({ usage });
  });

  it("follows an instruction and cannot start a playbook meanwhile", async () => {
    const task = { type: "instruct", instruction: "Ask how it went." } as const;
    const turn = nextPick(hello, { task, playbooks: [playbook] });
    const { answer, asked } = await ask(turn, { text: "How did it go?" });
    expect(answer).toEqual({ text: "How did it go?", usage });
    expect(asked?.prompt[0]?.content).toContain("Ask how it went.");
    expect(asked?.tools?.map(({ name }) => name)).toEqual(["_reply", "_handoff"]);
    const started = await ask(turn, {
      calls: [{ name: "_start_playbook", input: { playbook_id: "pb_1" } }],
    });
    expect(started.answer).toEqual({ usage });
  });

  it("can only choose a piece of knowledge in canned_strict mode", async () => {
    const turn = nextPick(hello, { agent: canned, knowledge });
    const point = (input: unknown) =>
      ask(turn, { calls: [{ name: "_reply", input }] }).then(({ answer }) => answer);
    expect(await point({ piece: 2 })).toEqual({ text: "A haircut is $40.", usage });
    expect(await point({ piece: 3 })).toEqual({ usage });
    expect(await point({ text: "Free haircuts!", piece: 1 })).toEqual({
      text: "Open 9 to 6.",
      usage,
    });
    expect((await ask(turn, { text: "Free haircuts!" })).answer).toEqual({ usage });
    expect((await ask({ ...turn, knowledge: [] }, { text: "Hm" })).asked?.tools).toHaveLength(1);
  });

  it("cannot use tools, playbooks and intents that it was not given", async () => {
    const calls = [
      { name: "delete_account", input: { id: 1 } },
      { name: "_start_playbook", input: { playbook_id: "pb_other" } },
      { name: "_slot", input: { value: 1 } },
    ];
    expect((await ask(nextPick(hello, { playbooks: [playbook] }), { calls })).answer).toEqual({
      usage,
    });
    const reply = { text: "Yes.", intent: "refund", confidence: 7 };
    expect(
      (await ask(nextPick(hello), { calls: [{ name: "_reply", input: reply }] })).answer,
    ).toEqual({
      text: "Yes.",
      usage,
    });
  });

  it("still answers if it also calls a tool that it was not given, with any input", async () => {
    const calls = ["delete_account", "_slot"].map((name) => ({ name, input: "oops" }));
    expect((await ask(nextPick(hello), { text: "Yes.", calls })).answer).toEqual({
      text: "Yes.",
      usage,
    });
    const slot = { name: "size", type: "text", prompt: "Which size?" } as const;
    const turn = nextPick(hello, { task: { type: "extract", slot }, actions: [findSlots] });
    const found = { name: "_slot", input: { value: "m" } };
    const { answer } = await ask(turn, { calls: [{ name: "find_slots", input: "oops" }, found] });
    expect(answer).toEqual({ slots: { size: "m" }, usage });
  });

  it.each(["length", "content-filter", "error"] as const)(
    "fails when the finish reason is %s",
    async (end) => {
      const failed = ask(nextPick(hello), { text: "Yes, we", end });
      await expect(failed).rejects.toThrow(end);
      await expect(failed, "The tokens were used.").rejects.toMatchObject({ usage });
    },
  );

  it.each(["{", "[]", "7", "null", `{"text": "${"a".repeat(100_000)}"}`])(
    "fails on a call whose input is not a JSON object",
    async (input) => {
      const failed = ask(nextPick(hello), { calls: [{ name: "_reply", input }] });
      await expect(failed).rejects.toThrow(/_reply/);
      await expect(failed, "The tokens were used.").rejects.toMatchObject({ usage });
    },
  );

  it("may leave a call's input empty", async () => {
    const bare = { ...findSlots, input_schema: {} };
    const { answer, asked } = await ask(nextPick(hello, { actions: [bare] }), {
      calls: [{ name: "find_slots", input: "" }],
    });
    expect(answer.calls).toEqual([{ action: "find_slots", input: {} }]);
    expect(asked?.tools?.[0]?.inputSchema).toEqual({ type: "object", properties: {} });
  });

  it("gets the signal, and is not called after it aborted", async () => {
    const controller = new AbortController();
    const { model, asked } = make({ text: "Yes." });
    await languageModel(model).respond(nextPick(hello), { signal: controller.signal });
    expect(asked[0]?.abortSignal).toBe(controller.signal);
    controller.abort(new Error("too late"));
    await expect(
      languageModel(model).respond(nextPick(hello), { signal: controller.signal }),
    ).rejects.toThrow("too late");
    expect(asked).toHaveLength(1);
  });
});

describe("a result of a language model", () => {
  const answerTo = (result: object) => {
    const model = { specificationVersion: "v3", doGenerate: () => Promise.resolve(result) };
    return languageModel(model as unknown as LanguageModel).respond(nextPick(hello), {
      signal: never,
    });
  };
  const complete = {
    content: [{ type: "text", text: "Yes." }],
    finishReason: { unified: "stop" },
    usage: { inputTokens: { total: 120 }, outputTokens: { total: 7 } },
  };

  it("may have the input of a call as an object instead of its JSON text", async () => {
    const input = { text: "Yes, we do." };
    const content = [{ type: "tool-call", toolName: "_reply", input }];
    expect(await answerTo({ ...complete, content })).toEqual({ ...input, usage });
  });

  it.each([undefined, null, {}, { unified: 7 }, 7])(
    "is an answer if it names no finish reason: %j",
    async (finishReason) => {
      expect(await answerTo({ ...complete, finishReason })).toEqual({ text: "Yes.", usage });
    },
  );

  it.each([undefined, null, 7, { inputTokens: null, outputTokens: { total: -1 } }])(
    "counts no tokens if it does not report them: %j",
    async (tokens) => {
      expect(await answerTo({ ...complete, usage: tokens })).toEqual({
        text: "Yes.",
        usage: { input_tokens: 0, output_tokens: 0 },
      });
    },
  );

  it.each([undefined, null, "Yes.", [null, "Yes.", { text: "Yes." }]])(
    "has its tokens counted, but is no answer, if it has no content: %j",
    async (content) => {
      expect(await answerTo({ ...complete, content })).toEqual({ usage });
    },
  );
});

it("a language model must have a known specification version", () => {
  const old = { specificationVersion: "v1", doGenerate() {} } as unknown as LanguageModel;
  expect(() => languageModel(old)).toThrow(/got an object with specificationVersion v1/);
});
