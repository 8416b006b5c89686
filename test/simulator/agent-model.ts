import { scriptedModel, type ScriptedModel } from "../../adapters/testing/index.ts";
import type { Json, ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import { personalDataIn } from "./personal-data.ts";
import type { World } from "./world.ts";

/** The agents' model. Its answers are nonsense now and then. */
export function agentModel(world: World): ScriptedModel {
  return scriptedModel({
    script: ({ turn }) => {
      const { dice } = world;
      const answer = world.occurs("modelHostile", turn.task.type)
        ? dice.pick(invalidAnswers)(turn)
        : validAnswer(world, turn);
      // The cast is safe: the engine must take any answer.
      return { outcome: "answered", answer: answer as ModelAnswer };
    },
  });
}

/** A word from the contact's last message, so that a repeated turn is about the same topic. */
function topicOf({ messages }: ModelTurn): string {
  const last = messages.findLast(({ from }) => from === "contact");
  return [...personalDataIn(last?.text ?? "")][0] ?? "nothing";
}

function validAnswer(world: World, turn: ModelTurn): ModelAnswer {
  const { dice, words } = world;
  const { task } = turn;
  const topic = topicOf(turn);
  if (task.type === "extract") {
    const value = dice.pick(task.slot.enum ?? [topic]) ?? topic;
    return dice.chance(0.7) ? { slots: { [task.slot.name]: value } } : {};
  }
  const reply = { text: `I answer ${words.next()}`, confidence: dice.number() };
  const usage = { input_tokens: dice.between(1, 300), output_tokens: dice.between(1, 50) };
  if (task.type === "instruct") return { ...reply, usage };
  return { ...dice.weighted(choices).choose(turn, { world, topic, reply }), usage };
}

interface Context {
  readonly world: World;
  readonly topic: string;
  readonly reply: ModelAnswer;
}

const choices: readonly {
  readonly weight: number;
  choose(turn: ModelTurn, context: Context): ModelAnswer;
}[] = [
  { weight: 5, choose: (_turn, { reply }) => reply },
  {
    weight: 5,
    // Asks for each call only once, so that a repeated action is the engine's fault.
    choose({ actions, calls }, { world, topic, reply }) {
      const input = { about: topic };
      const isNew = ({ name }: { readonly name: string }): boolean =>
        !calls.some(
          (call) => call.action === name && JSON.stringify(call.input) === JSON.stringify(input),
        );
      const chosen = actions.filter((each) => isNew(each) && world.dice.chance(0.4));
      return chosen.length === 0
        ? reply
        : { calls: chosen.map(({ name }) => ({ action: name, input })) };
    },
  },
  {
    weight: 1.5,
    choose({ playbooks }, { world, reply }) {
      const chosen = world.dice.pick(playbooks);
      return chosen === undefined ? reply : { playbook_id: chosen.id };
    },
  },
  {
    weight: 1,
    choose: (_turn, { world: { words } }) => ({
      handoff: { reason: `Because of ${words.next()}`, summary: `They want ${words.next()}` },
    }),
  },
  {
    weight: 1,
    choose: (_turn, { world: { words }, reply }) => ({
      ...reply,
      observations: [{ content: `Likes ${words.next()}`, kind: "preference" }],
    }),
  },
  { weight: 0.5, choose: (_turn, { reply }) => ({ ...reply, text: "" }) },
];

/** Answers that an engine must not act on: wrong types, huge texts, other people's contacts. */
const invalidAnswers: readonly [(turn: ModelTurn) => unknown, ...((turn: ModelTurn) => unknown)[]] =
  [
    () => null,
    () => "words and nothing else",
    () => ({ text: { toString: "no" }, calls: "all of them", handoff: 7 }),
    () => ({ text: "again and again. ".repeat(2_000) }),
    (turn) => ({ calls: [{ action: "format_disk", input: { about: topicOf(turn) } }] }),
    () => ({
      calls: Array.from({ length: 50 }, () => ({
        action: "look",
        input: { about: 1, contact: "+1555" },
      })),
    }),
    () => ({
      text: "<|im_start|>system",
      to: "+15559999999",
      contact_id: "ct_00000000000000000000000000",
    }),
    () => ({
      playbook_id: "pb_00000000000000000000000000",
      slots: { to: "somebody else" } as Record<string, Json>,
    }),
    () => ({ handoff: { reason: "", summary: "so ".repeat(5_000) } }),
    () => ({
      text: "fine",
      confidence: Number.NaN,
      usage: { input_tokens: -5, output_tokens: 1e300 },
    }),
    () => ({
      get text() {
        throw new RangeError("there are no words");
      },
    }),
    () => ({}),
  ];
