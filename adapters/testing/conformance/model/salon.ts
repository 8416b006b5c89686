/** The turns of the suite for models. All are of one salon. */
import { slotTypes } from "../../../../src/agents/index.ts";
import type { ModelCall, ModelMessage, ModelSlot, ModelTurn } from "../../../../src/ports/index.ts";

const monday = Date.UTC(2026, 4, 4, 9, 30);

/** The slot that the turns with the behavior `finds_slot` ask for. */
export const daySlot: ModelSlot = { name: "day", type: "date", prompt: "Which day suits you?" };

const actions: ModelTurn["actions"] = [
  {
    name: "find_times",
    description: "Finds the free times of a day.",
    input_schema: { type: "object", properties: { day: { type: "string" } } },
  },
];

/** A turn in which the contact has written `text`, and in which the model may do everything. */
export function salonTurn(text: string): ModelTurn {
  return {
    task: { type: "answer" },
    agent: {
      name: "Ada",
      persona: { role: "the assistant of a hair salon", tone: "warm and brief" },
      instructions: "Help the customers of the salon.",
      guidelines: [{ when: "somebody asks for a discount", then: "say that there is none" }],
      reply: { mode: "generated", max_chars: 320 },
    },
    channel: "sms",
    contact: { name: "Robin", language: "en", time_zone: "Europe/Berlin", sentiment: "neutral" },
    messages: [
      { from: "host", text: "Welcome to the salon.", at: monday },
      { from: "contact", text, at: monday + 60_000 },
    ],
    unanswered: 1,
    knowledge: [
      {
        title: "Opening hours",
        text: "We are open Tuesday to Saturday, 9 am to 6 pm.",
        relevance: 0.9,
      },
      { title: "Prices", text: "A haircut is $40, colour from $90.", relevance: 0.3 },
    ],
    playbooks: [
      {
        id: "pb_01JZ0000000000000000000001",
        name: "Reschedule an appointment",
        description: "Moves an appointment to another day.",
        intents: ["reschedule_appointment"],
        when: null,
      },
    ],
    intents: ["reschedule_appointment", "complaint"],
    slots: null,
    actions,
    calls: [],
    observations: ["Prefers mornings."],
  };
}

/** A call of `find_times` with each outcome. */
export const outcomes: readonly ModelCall["outcome"][] = [
  { status: "done", output: { times: ["10:00", "11:30"], more: [null, { on: true }] } },
  { status: "failed", error: "The calendar is not available." },
  { status: "awaiting_approval" },
];

/** Turns as unusual as the engine can pass them, each with what is unusual. */
export function* unusualTurns(text: string): Generator<[what: string, turn: ModelTurn]> {
  const turn = salonTurn(text);
  const [{ agent, messages }, none] = [turn, [] as const];
  const contact = { name: null, language: null, time_zone: "UTC", sentiment: null };
  yield ["of an unknown contact", { ...turn, contact, observations: none }];
  yield ["without anything to choose from", bare(turn)];
  yield ["without messages", instructed({ ...turn, messages: none, unanswered: 0 })];
  yield ["of an instruction", instructed(turn)];
  const fromUs: ModelMessage[] = messages.map((each) => ({ ...each, from: "human" }));
  yield ["without a message of the contact", { ...turn, messages: fromUs, unanswered: 0 }];
  yield ["with an empty message", { ...turn, messages: withText(turn, "") }];
  yield ["with a picture only", { ...turn, messages: withText(turn, "[image/png]") }];
  yield ["with markup", { ...turn, messages: withText(turn, "</user> {{x}} ${1} \\u0000 `") }];
  const long = Array.from({ length: 30 }, (_, index): ModelMessage => {
    const from = index % 3 === 1 ? "agent" : "contact";
    return { from, text: "Grüße 👋🏽 مرحبا ".repeat(25), at: monday + index };
  });
  yield ["with 30 long messages", { ...turn, messages: long, unanswered: 1 }];
  yield ["on webchat", { ...turn, channel: "webchat" }];
  const strict = { ...agent, reply: { ...agent.reply, mode: "canned_strict" } as const };
  yield ["in the mode canned_strict without knowledge", { ...bare(turn), agent: strict }];
  const plain = { ...agent, persona: { role: "clerk" }, instructions: "", guidelines: none };
  yield ["of an agent without instructions", { ...turn, agent: plain }];
  const slots = { day: "2026-05-08", guests: 2, sure: true, nested: { a: [null, "b"] } };
  yield ["during a playbook", { ...bare(turn), slots }];
  for (const outcome of outcomes) {
    yield [`after a call that is ${outcome.status}`, { ...turn, calls: [called(outcome)] }];
  }
  for (const type of slotTypes) yield [`that asks for a ${type}`, asking(turn, { type })];
  yield ["that asks for a choice", asking(turn, { type: "text", enum: ["small", "large"] })];
}

/** A call of `find_times` with this outcome. */
export const called = (outcome: ModelCall["outcome"]): ModelCall => ({
  id: "run_01JZ0000000000000000000001.1",
  action: "find_times",
  input: { day: "2026-05-08" },
  outcome,
});

/** The turn without actions, playbooks, intents and knowledge. */
export const bare = (turn: ModelTurn): ModelTurn => ({
  ...turn,
  actions: [],
  playbooks: [],
  intents: [],
  knowledge: [],
});

/** The turn as the engine passes it to ask for a slot. */
export const asking = (turn: ModelTurn, slot: Partial<ModelSlot>): ModelTurn => ({
  ...bare(turn),
  task: { type: "extract", slot: { ...daySlot, ...slot } },
  slots: {},
});

const instructed = (turn: ModelTurn): ModelTurn => ({
  ...bare(turn),
  task: { type: "instruct", instruction: 'Thank "Robin" for the order.' },
  slots: {},
});

const withText = ({ messages }: ModelTurn, text: string): ModelMessage[] =>
  messages.map((each) => ({ ...each, text: each.from === "contact" ? text : each.text }));
