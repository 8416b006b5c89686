import { option, optionsObject, parseOptions } from "../../src/kernel/index.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../src/ports/index.ts";
import { likeliestIntent, likeliestPlaybook } from "./rules/intents.ts";
import { observationsIn } from "./rules/observations.ts";
import { slotValue } from "./rules/slots.ts";
import { smallTalk } from "./rules/small-talk.ts";

/** Options of `rules()`. */
export interface RulesOptions {
  /**
   * The minimum relevance of a piece of knowledge that is sent as the answer: above 0, up to 1.
   * @default 0.5
   */
  readonly minRelevance?: number | undefined;
}

const optionsSchema = optionsObject({
  minRelevance: option<number>(
    "a number above 0 and up to 1",
    (given) => typeof given === "number" && given > 0 && given <= 1,
  ).default(0.5),
});

/**
 * An agent model that is not a language model. It works offline on the words of a message, in well
 * under a millisecond, and gives the same answer to the same message. It recognizes intents and
 * playbooks by the words of their names and descriptions, sends a piece of knowledge unchanged,
 * answers greetings and thanks, finds slots in sentences, and notes what contacts say about
 * themselves. It gives no answer to other messages. It ignores instructions, also those of
 * `instruct` steps, and calls no actions. Other steps of playbooks can still call actions.
 * @throws TidingsError `invalid_option` if an option is wrong or unknown
 */
export function rules(options: RulesOptions = {}): AgentModel {
  const { minRelevance } = parseOptions("rules: ", optionsSchema, options);
  return { source: "rule", respond: (turn) => respond(turn, minRelevance) };
}

function respond(turn: ModelTurn, minRelevance: number): ModelAnswer {
  if (turn.task.type === "instruct") return { confidence: 0 };
  const asked = askedIn(turn);
  if (turn.task.type === "extract") {
    const { slot } = turn.task;
    const value = slotValue(slot, asked, turn.messages.at(-1)?.at ?? 0);
    return value === null ? { confidence: 0 } : { slots: { [slot.name]: value } };
  }
  const observations = observationsIn(asked);
  const found = answer(turn, asked, minRelevance);
  return observations.length === 0 ? found : { ...found, observations };
}

function answer(turn: ModelTurn, asked: string, minRelevance: number): ModelAnswer {
  const playbook = likeliestPlaybook(asked, turn.playbooks);
  const intent = likeliestIntent(asked, turn.intents);
  const understood = intent === null ? {} : { intent: intent.key };
  if (playbook !== null) {
    return { ...understood, playbook_id: playbook.key, confidence: playbook.confidence };
  }
  const [best] = turn.knowledge;
  if (best !== undefined && best.relevance >= minRelevance) {
    return { ...understood, text: best.text, confidence: best.relevance };
  }
  if (intent !== null) return { intent: intent.key, confidence: intent.confidence };
  const courtesy = turn.agent.reply.mode === "generated" ? smallTalk(asked) : null;
  return courtesy === null ? { confidence: best?.relevance ?? 0 } : { text: courtesy };
}

/** The messages of the contact that have no answer yet. */
function askedIn({ messages, unanswered }: ModelTurn): string {
  const open = unanswered > 0 ? messages.slice(-unanswered) : [];
  return open
    .filter(({ from }) => from === "contact")
    .map(({ text }) => text)
    .join("\n");
}
