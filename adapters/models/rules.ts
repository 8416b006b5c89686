import { TidingsError } from "../../src/kernel/errors.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import { likeliestIntent, likeliestPlaybook } from "./rules/intents.ts";
import { noticedIn } from "./rules/noticing.ts";
import { smallTalk } from "./rules/small-talk.ts";
import { wordsFor } from "./rules/slots.ts";

export interface RulesOptions {
  /** From what relevance on a piece of knowledge is an answer: above 0 to 1, by default 0.5. */
  readonly leastRelevance?: number;
}

const usualLeastRelevance = 0.5;

/**
 * Answers without a language model: by the words of what was asked, offline, in well under a millisecond, the same to the same. It knows
 * an intent or a playbook by the words of its name and description, answers with a piece of knowledge word for word, returns a greeting
 * and thanks, finds slots in sentences, and notices what contacts say of themselves. What it doesn't understand it says nothing to. It follows no instructions and calls no actions:
 * playbooks do.
 */
export function rules(options: RulesOptions = {}): AgentModel {
  const leastRelevance = options.leastRelevance ?? usualLeastRelevance;
  if (!(leastRelevance > 0 && leastRelevance <= 1)) {
    throw new TidingsError("invalid_option", "leastRelevance must be above 0 and not above 1");
  }
  return { source: "rule", respond: (turn) => respond(turn, leastRelevance) };
}

function respond(turn: ModelTurn, leastRelevance: number): ModelAnswer {
  if (turn.task.type === "instruct") return { confidence: 0 };
  const asked = askedIn(turn);
  if (turn.task.type === "extract") {
    const { slot } = turn.task;
    const value = wordsFor(slot, asked, turn.messages.at(-1)?.at ?? 0);
    return value === null ? { confidence: 0 } : { slots: { [slot.name]: value } };
  }
  const observations = noticedIn(asked);
  const said = answer(turn, asked, leastRelevance);
  return observations.length === 0 ? said : { ...said, observations };
}

function answer(turn: ModelTurn, asked: string, leastRelevance: number): ModelAnswer {
  const playbook = likeliestPlaybook(asked, turn.playbooks);
  const intent = likeliestIntent(asked, turn.intents);
  const understood = intent === null ? {} : { intent: intent.name };
  if (playbook !== null) {
    return { ...understood, playbook_id: playbook.name, confidence: playbook.sureness };
  }
  const [best] = turn.knowledge;
  if (best !== undefined && best.relevance >= leastRelevance) {
    return { ...understood, text: best.text, confidence: best.relevance };
  }
  if (intent !== null) return { intent: intent.name, confidence: intent.sureness };
  const courtesy = turn.agent.reply.mode === "generated" ? smallTalk(asked) : null;
  return courtesy === null ? { confidence: best?.relevance ?? 0 } : { text: courtesy };
}

/** What the contact wrote that has no answer yet. */
function askedIn({ messages, unanswered }: ModelTurn): string {
  const open = unanswered > 0 ? messages.slice(-unanswered) : [];
  return open
    .filter(({ from }) => from === "contact")
    .map(({ text }) => text)
    .join("\n");
}
