/** The conformance suite for models finds mistakes: each of these models has exactly one. */
import { describe, expect, test } from "vitest";
import {
  modelConformance,
  type ModelBehavior,
  type ModelNeed,
} from "../../../adapters/testing/index.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../../src/ports/agent-model.ts";
import { failedChecks } from "../../support/conformance-checks.ts";
import { cases } from "../../support/runs.ts";
import { texts } from "./under-test.ts";

type Respond = AgentModel["respond"];

const usage = { input_tokens: 210, output_tokens: 12 };

/** Does what the last message says, like the simulated server. */
const sound: Respond = async (turn, { signal }) => {
  const behavior = behaviorIn(turn);
  if (behavior === "hangs") {
    await new Promise((resolve) => {
      if (signal.aborted) resolve("aborted");
      signal.addEventListener("abort", resolve);
    });
    throw new Error("aborted");
  }
  if (behavior === "fails" || behavior === "stops_early") throw new Error(behavior);
  return { ...answerTo(turn, behavior), usage };
};

function behaviorIn({ messages }: ModelTurn): ModelBehavior | undefined {
  const last = messages.at(-1)?.text;
  return (Object.keys(texts) as ModelBehavior[]).find((each) => texts[each] === last);
}

function answerTo(turn: ModelTurn, behavior: ModelBehavior | undefined): ModelAnswer {
  const { task, actions, calls, playbooks, intents, agent, knowledge } = turn;
  if (task.type === "extract") {
    return behavior === "finds_slot" ? { slots: { [task.slot.name]: "2026-05-08" } } : {};
  }
  if (behavior === "hands_off") return { handoff: { reason: "Asks for a person" } };
  const [playbook] = playbooks;
  if (behavior === "starts_playbook" && playbook !== undefined) {
    return { playbook_id: playbook.id, ...(intents[1] && { intent: intents[0] }) };
  }
  if (behavior === "calls_action" && actions.length > 0 && calls.length === 0) {
    return { calls: [{ action: "find_times", input: { day: "2026-05-08" } }] };
  }
  if (agent.reply.mode === "generated") return { text: "At nine." };
  return knowledge[0] === undefined ? {} : { text: knowledge[0].text };
}

/** The errors of the checks that a spoilt model fails, by name. */
function failures(
  spoil: (respond: Respond) => Partial<AgentModel>,
  { only, unable }: { only?: string; unable?: Partial<Record<ModelNeed, string>> } = {},
): Promise<ReadonlyMap<string, string>> {
  const create = async () => ({
    model: { respond: sound, ...spoil(sound) },
    text: (behavior: ModelBehavior) => texts[behavior],
  });
  return failedChecks((runner) => modelConformance(runner, "spoilt", { create, unable }), only);
}

/** Changes the answers of the sound model. */
const answering =
  (change: (answer: ModelAnswer, turn: ModelTurn) => object) =>
  (respond: Respond): Partial<AgentModel> => ({
    respond: async (turn, options) => change(await respond(turn, options), turn),
  });

/** Changes what the sound model sees. */
const seeing =
  (change: (turn: ModelTurn) => ModelTurn) =>
  (respond: Respond): Partial<AgentModel> => ({
    respond: (turn, options) => respond(change(turn), options),
  });

/** Returns an answer instead of an error. */
const apologizing = (respond: Respond): Partial<AgentModel> => ({
  respond: async (turn, options) => {
    const isWrong = behaviorIn(turn) === "fails" || behaviorIn(turn) === "stops_early";
    return isWrong ? { text: "Sorry, I cannot help." } : respond(turn, options);
  },
});

describe("the suite for models", () => {
  test("passes for a correct model", async () => {
    expect(await failures(() => ({}))).toEqual(new Map());
  });

  test("says what a model has to do and what it did", async () => {
    const spoil = answering(() => ({ text: "Hello", confidence: 100 }));
    const failed = await failures(spoil, { only: "have only values" });
    expect([...failed.values()]).toEqual([
      "Error: answers have only values that the engine accepts: " +
        "expected 100 (`confidence` as accepted), got undefined",
    ]);
  });

  test("runs no check that needs what the model cannot do", async () => {
    const reasons = { hands_off: "it hands nobody off" };
    const failed = await failures(apologizing, { only: "hand off", unable: reasons });
    expect(failed).toEqual(new Map());
    const names = await failures(
      answering(() => ({ text: "No" })),
      { only: "hand off" },
    );
    expect([...names.keys()]).toEqual(["hand off with a reason"]);
  });
});

describe("the suite for models finds one that", () => {
  let asked = new Set<string>();
  let last: ModelTurn | undefined;
  let hasFailed = false;

  const spoilt: readonly (readonly [
    what: string,
    spoil: (respond: Respond) => Partial<AgentModel>,
    found: string,
  ])[] = [
    ["returns a text only", () => ({ respond: () => "Hello" as never }), "reply to the contact"],
    [
      "has an empty text",
      answering((answer) => ({ ...answer, text: " " })),
      "reply to the contact",
    ],
    [
      "gives its confidence in percent",
      answering((answer) => ({ ...answer, confidence: 90 })),
      "have only values that the engine accepts",
    ],
    [
      "has another source",
      (respond) => ({ respond, source: "llm" as never }),
      "have only values that the engine accepts",
    ],
    [
      "has intents of its own",
      answering((answer) => ({ ...answer, intent: "greeting" })),
      "name only intents of the turn",
    ],
    [
      "hands off without a reason",
      answering(({ handoff, ...rest }) => ({ ...rest, ...(handoff && { handoff: {} }) })),
      "hand off with a reason",
    ],
    [
      "starts a playbook by its name",
      answering((answer, { playbooks: [playbook] }) => ({
        ...answer,
        ...(answer.playbook_id !== undefined && { playbook_id: playbook?.name }),
      })),
      "start only playbooks that the turn offers",
    ],
    [
      "remembers playbooks",
      (respond) => ({
        respond: async (turn, options) => {
          const { playbooks } = last ?? turn;
          last = turn;
          return respond({ ...turn, playbooks }, options);
        },
      }),
      "start only playbooks that the turn offers",
    ],
    [
      "calls actions of its own",
      answering((answer) => ({ ...answer, calls: [{ action: "search", input: {} }] })),
      "call only actions that the turn offers",
    ],
    [
      "passes the input of a call as a text",
      answering(({ calls, ...rest }) => ({
        ...rest,
        ...(calls && { calls: calls.map((call) => ({ ...call, input: "{}" })) }),
      })),
      "call only actions that the turn offers",
    ],
    [
      "calls actions when it may call none",
      seeing((turn) => ({ ...turn, actions: [{ name: "", description: "", input_schema: {} }] })),
      "call only actions that the turn offers",
    ],
    [
      "does not see the outcomes of calls",
      seeing((turn) => ({ ...turn, calls: [] })),
      "do not repeat a call whose outcome is known",
    ],
    [
      "finds values for slots that nobody asked for",
      answering((answer) => ({ ...answer, slots: { ...answer.slots, name: "Robin" } })),
      "have a value for the slot that the task asks for, and for no other",
    ],
    [
      "writes texts of its own in canned_strict",
      answering((answer) => ({ ...answer, text: "At nine." })),
      "use only the agent's knowledge in the mode canned_strict",
    ],
    [
      "counts no tokens",
      answering(({ usage: _, ...rest }) => rest),
      "report the tokens that they took",
    ],
    [
      "requires a name",
      seeing((turn) => ({ ...turn, observations: [String(turn.contact.name?.length ?? fail())] })),
      "accept every turn that the engine can pass",
    ],
    [
      "requires a message",
      seeing((turn) => ({ ...turn, observations: [turn.messages[0]?.text ?? fail()] })),
      "accept every turn that the engine can pass",
    ],
    [
      "sorts the messages where they are",
      seeing((turn) => {
        (turn.messages as object[]).reverse();
        return { ...turn, messages: turn.messages.toReversed() };
      }),
      "leave the turn unchanged",
    ],
    [
      "says nothing a second time",
      (respond) => {
        asked = new Set();
        return {
          respond: async (turn, options) => {
            const known = asked.has(JSON.stringify(turn.messages));
            asked.add(JSON.stringify(turn.messages));
            return known ? {} : respond(turn, options);
          },
        };
      },
      "can be repeated",
    ],
    [
      "keeps the current turn in a variable",
      (respond) => ({
        respond: async (turn, options) => {
          last = turn;
          await Promise.resolve();
          return respond(last, options);
        },
      }),
      "do not mix up turns that run at once",
    ],
    ["apologizes when it failed", apologizing, "reject when the model fails"],
    ["sends half a text", apologizing, "reject when the answer is incomplete"],
    [
      "quotes the contact in the name of its error",
      (respond) => ({
        respond: async (turn, options) => {
          const said = turn.messages.at(-1)?.text ?? "";
          if (said === texts.fails) throw Object.assign(new Error("no"), { name: said });
          return respond(turn, options);
        },
      }),
      "reject with an error whose name, code and stack do not quote the contact",
    ],
    [
      "stays broken after a failure",
      (respond) => {
        hasFailed = false;
        return {
          respond: async (turn, options) => {
            if (hasFailed) fail();
            hasFailed = behaviorIn(turn) === "fails";
            return respond(turn, options);
          },
        };
      },
      "succeed after a call that failed",
    ],
    [
      "ignores its signal",
      (respond) => ({
        respond: (turn) => respond(turn, { signal: new AbortController().signal }),
      }),
      "end within a second when the signal aborts",
    ],
    [
      "waits for an abort that has happened",
      (respond) => ({
        respond: (turn, { signal }) => {
          const later = new AbortController();
          signal.addEventListener("abort", () => later.abort());
          return respond(turn, { signal: later.signal });
        },
      }),
      "end within a second when the signal had aborted before",
    ],
  ];

  /** Both take a second. */
  const some = cases(spoilt, ([what]) => what !== "waits for an abort that has happened");

  test.each(some)("%s", async (_, spoil, found) => {
    last = undefined;
    expect([...(await failures(spoil, { only: found })).keys()]).toEqual([found]);
  });
});

function fail(): never {
  throw new TypeError("Cannot read properties of null");
}
