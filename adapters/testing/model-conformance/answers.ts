import { validateAnswer } from "../../../src/agents/index.ts";
import type { ModelAnswer } from "../../../src/ports/index.ts";
import { holds, same } from "../checks.ts";
import type { Answered, ModelChecks } from "./bench.ts";
import { called, outcomes } from "./salon.ts";

/** The fields of an answer that the engine reads. It ignores others. */
const fields = [
  "text",
  "confidence",
  "intent",
  "playbook_id",
  "slots",
  "calls",
  "handoff",
  "observations",
  "usage",
] as const satisfies readonly (keyof ModelAnswer)[];

/** Fails if the engine would drop or change a field. */
function checkFields({ turn, answer }: Answered): void {
  const { answer: valid } = validateAnswer(answer, turn);
  for (const field of fields) {
    // An empty list of calls means that there is none.
    const isGiven =
      answer[field] !== undefined && (field !== "calls" || answer.calls?.length !== 0);
    if (isGiven) same(valid[field], answer[field], `\`${field}\` as accepted`);
  }
}

export const answerChecks: ModelChecks = {
  "reply to the contact": {
    needs: ["replies"],
    run: async (bench) => void (await bench.answer("replies")),
  },
  "have only values that the engine accepts": {
    needs: [],
    async run(bench) {
      for (const way of bench.ways) checkFields(await bench.answer(way));
      const { source } = bench.under.model;
      holds(
        source === undefined || source === "rule" || source === "model",
        "`source` to be rule, model or undefined",
        source,
      );
    },
  },
  "name only intents of the turn": {
    needs: [],
    async run(bench) {
      for (const way of bench.ways) {
        const turn = bench.turn(way);
        for (const intents of [turn.intents, ["complaint"], []]) {
          const { intent } = await bench.respond({ ...turn, intents });
          holds(
            intent === undefined || intents.includes(intent),
            `no intent but ${JSON.stringify(intents)}`,
            intent,
          );
        }
      }
    },
  },
  "hand off with a reason": {
    needs: ["hands_off"],
    run: async (bench) => void (await bench.answer("hands_off")),
  },
  "start only playbooks that the turn offers": {
    needs: ["starts_playbook"],
    async run(bench) {
      const { turn } = await bench.answer("starts_playbook");
      const { playbook_id } = await bench.respond({ ...turn, playbooks: [] });
      same(playbook_id, undefined, "`playbook_id` in a turn without playbooks");
    },
  },
  "call only actions that the turn offers": {
    needs: ["calls_action"],
    async run(bench) {
      const { turn, answer } = await bench.answer("calls_action");
      for (const { action, input } of answer.calls ?? []) {
        same(action, "find_times", "the name of the action");
        const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
        holds(isObject, "an object as the input, as in the action's `input_schema`", input);
      }
      const { calls = [] } = await bench.respond({ ...turn, actions: [] });
      same(calls.length, 0, "number of calls in a turn without actions");
    },
  },
  "do not repeat a call whose outcome is known": {
    needs: ["calls_action"],
    async run(bench) {
      const turn = bench.turn("calls_action");
      const { calls: [first] = [] } = await bench.respond(turn);
      for (const outcome of outcomes) {
        const made = { ...called(outcome), ...first };
        const { calls = [] } = await bench.respond({ ...turn, calls: [made] });
        const again = calls.map(({ input }) => JSON.stringify(input));
        holds(
          !again.includes(JSON.stringify(made.input)),
          `an answer to the outcome ${outcome.status}`,
          calls,
        );
      }
    },
  },
  "have a value for the slot that the task asks for, and for no other": {
    needs: ["finds_slot"],
    async run(bench) {
      const { answer } = await bench.answer("finds_slot");
      same(Object.keys(answer.slots ?? {}), ["day"], "the names of the slots");
    },
  },
  "use only the agent's knowledge in the mode canned_strict": {
    needs: ["replies"],
    async run(bench) {
      const turn = bench.turn("replies");
      const reply = { ...turn.agent.reply, mode: "canned_strict" } as const;
      const { text } = await bench.respond({ ...turn, agent: { ...turn.agent, reply } });
      holds(
        text === undefined || turn.knowledge.some((piece) => piece.text === text),
        "no text, or a text of the turn's knowledge, word for word",
        text,
      );
    },
  },
  "report the tokens that they took": {
    needs: ["usage"],
    async run(bench) {
      for (const way of bench.ways) {
        const { usage } = (await bench.answer(way)).answer;
        const { input_tokens = 0, output_tokens = 0 } = { ...usage };
        holds(input_tokens > 0 && output_tokens > 0, "`usage` with numbers above 0", usage);
      }
    },
  },
};
