import type { AgentModel, Json, ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import { longest } from "./faults.ts";
import { type Life, never } from "./life.ts";
import { tellingIn } from "./words.ts";
import type { World } from "./world.ts";

/** What thinks for one engine's agents: now slow, now failing, now hostile, and never the same twice. */
export function mind(world: World, life: Life, crash: (why: string) => void): AgentModel {
  const { dice, clock } = world;
  const respond = async (turn: ModelTurn): Promise<ModelAnswer> => {
    const { faults } = world;
    if (dice.chance(faults.crashAtThought)) {
      crash("while its model thinks");
      return never();
    }
    if (dice.chance(faults.modelSlow)) await clock.sleep(dice.between(1, longest.thought));
    if (dice.chance(faults.modelFails)) throw new Error(`the model fails over ${aboutIn(turn)}`);
    const answer = dice.chance(faults.modelHostile) ? dice.pick(lies)(turn) : sane(world, turn);
    world.trace.note(
      [life.name],
      `the model of ${life.name} says ${JSON.stringify(answer)?.slice(0, 80)}`,
    );
    return answer as ModelAnswer;
  };
  return { respond: (turn) => (life.alive ? life.guard(respond(turn)) : never()) };
}

/** What it is about: one word of the contact's last ones, so that a turn that is run again comes to the same. */
function aboutIn({ messages }: ModelTurn): string {
  const last = messages.findLast(({ from }) => from === "contact");
  return [...tellingIn(last?.text ?? "")][0] ?? "nothing";
}

function sane(world: World, turn: ModelTurn): ModelAnswer {
  const { dice, words } = world;
  const { task } = turn;
  const about = aboutIn(turn);
  if (task.type === "extract") {
    return dice.chance(0.7) ? { slots: { [task.slot.name]: about } } : {};
  }
  const says = { text: `I answer ${words.draw()}`, confidence: dice.number() };
  const usage = { input_tokens: dice.between(1, 300), output_tokens: dice.between(1, 50) };
  if (task.type === "instruct") return { ...says, usage };
  return { ...dice.weighted(thoughts).think(turn, { world, about, says }), usage };
}

interface Thinking {
  readonly world: World;
  readonly about: string;
  readonly says: ModelAnswer;
}

const thoughts: readonly {
  readonly weight: number;
  think(turn: ModelTurn, thinking: Thinking): ModelAnswer;
}[] = [
  { weight: 5, think: (_turn, { says }) => says },
  {
    weight: 5,
    // Asks for each call once: whatever is done twice then is the engine's doing.
    think({ actions, calls }, { world, about, says }) {
      const input = { about };
      const isNew = ({ name }: { readonly name: string }): boolean =>
        !calls.some(
          (call) => call.action === name && JSON.stringify(call.input) === JSON.stringify(input),
        );
      const chosen = actions.filter((each) => isNew(each) && world.dice.chance(0.4));
      return chosen.length === 0
        ? says
        : { calls: chosen.map(({ name }) => ({ action: name, input })) };
    },
  },
  {
    weight: 1.5,
    think({ playbooks }, { world, says }) {
      const chosen = world.dice.pick(playbooks);
      return chosen === undefined ? says : { playbook_id: chosen.id };
    },
  },
  {
    weight: 1,
    think: (_turn, { world: { words } }) => ({
      handoff: { reason: `Because of ${words.draw()}`, summary: `They want ${words.draw()}` },
    }),
  },
  {
    weight: 1,
    think: (_turn, { world: { words }, says }) => ({
      ...says,
      observations: [{ content: `Likes ${words.draw()}`, kind: "preference" }],
    }),
  },
  { weight: 0.5, think: (_turn, { says }) => ({ ...says, text: "" }) },
];

/** What no model should say. The contact is somebody else in some of them. */
const lies: readonly [(turn: ModelTurn) => unknown, ...((turn: ModelTurn) => unknown)[]] = [
  () => null,
  () => "words and nothing else",
  () => ({ text: { toString: "no" }, calls: "all of them", handoff: 7 }),
  () => ({ text: "again and again. ".repeat(2_000) }),
  (turn) => ({ calls: [{ action: "format_disk", input: { about: aboutIn(turn) } }] }),
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
