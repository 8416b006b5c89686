import { validateAnswer } from "../../../../src/agents/index.ts";
import type { ModelAnswer } from "../../../../src/ports/index.ts";
import { holds, same } from "../checks.ts";
import type { Answered, ModelChecks } from "./fixture.ts";
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
    run: async (fixture) => void (await fixture.answer("replies")),
  },
  "have only values that the engine accepts": {
    needs: [],
    async run(fixture) {
      for (const way of fixture.ways) checkFields(await fixture.answer(way));
      const { source } = fixture.model;
      holds(
        source === undefined || source === "rule" || source === "model",
        "`source` to be rule, model or undefined",
        source,
      );
    },
  },
  "name only intents of the turn": {
    needs: [],
    async run(fixture) {
      for (const way of fixture.ways) {
        const turn = fixture.turn(way);
        for (const intents of [turn.intents, ["complaint"], []]) {
          const { intent } = await fixture.respond({ ...turn, intents });
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
    run: async (fixture) => void (await fixture.answer("hands_off")),
  },
  "start only playbooks that the turn offers": {
    needs: ["starts_playbook"],
    async run(fixture) {
      const { turn } = await fixture.answer("starts_playbook");
      const { playbook_id } = await fixture.respond({ ...turn, playbooks: [] });
      same(playbook_id, undefined, "`playbook_id` in a turn without playbooks");
    },
  },
  "call only actions that the turn offers": {
    needs: ["calls_action"],
    async run(fixture) {
      const { turn, answer } = await fixture.answer("calls_action");
      for (const { action, input } of answer.calls ?? []) {
        same(action, "find_times", "the name of the action");
        const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
        holds(isObject, "an object as the input, as in the action's `input_schema`", input);
      }
      const { calls = [] } = await fixture.respond({ ...turn, actions: [] });
      same(calls.length, 0, "number of calls in a turn without actions");
    },
  },
  "do not repeat a call whose outcome is known": {
    needs: ["calls_action"],
    async run(fixture) {
      const turn = fixture.turn("calls_action");
      const { calls: [first] = [] } = await fixture.respond(turn);
      for (const outcome of outcomes) {
        const made = { ...called(outcome), ...first };
        const { calls = [] } = await fixture.respond({ ...turn, calls: [made] });
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
    async run(fixture) {
      const { answer } = await fixture.answer("finds_slot");
      same(Object.keys(answer.slots ?? {}), ["day"], "the names of the slots");
    },
  },
  "use only the agent's knowledge in the mode canned_strict": {
    needs: ["replies"],
    async run(fixture) {
      const turn = fixture.turn("replies");
      const reply = { ...turn.agent.reply, mode: "canned_strict" } as const;
      const { text } = await fixture.respond({ ...turn, agent: { ...turn.agent, reply } });
      holds(
        text === undefined || turn.knowledge.some((piece) => piece.text === text),
        "no text, or a text of the turn's knowledge, word for word",
        text,
      );
    },
  },
  "report the tokens that they took": {
    needs: ["usage"],
    async run(fixture) {
      for (const way of fixture.ways) {
        const { usage } = (await fixture.answer(way)).answer;
        const { input_tokens = 0, output_tokens = 0 } = { ...usage };
        holds(input_tokens > 0 && output_tokens > 0, "`usage` with numbers above 0", usage);
      }
    },
  },
};
