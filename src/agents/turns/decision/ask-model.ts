/** Asks the model for an answer to the contact, and decides what follows from it. */
import type { ModelAnswer } from "../../../ports/index.ts";
import type { Handoff } from "../../handling/hand-off.ts";
import {
  act,
  settle,
  think,
  type ModelResult,
  type Permissions,
  type TurnMoves,
} from "../../moves.ts";
import type { Frame } from "../../playbooks/play/frames.ts";
import { allowedValues } from "../../playbooks/play/slots.ts";
import { playbookByIntent } from "../../playbooks/play/trigger-rules.ts";
import type { PinnedPlaybook } from "../../playbooks/types.ts";
import type { NewObservation, TurnFacts } from "../turn-types.ts";
import { mayFillSlot } from "./guardrails.ts";
import { handsOffOn, limitsFor, wordsFor } from "./handoff-rules.ts";
import { replyOf } from "./reply-text.ts";
import {
  beginPlaybook,
  endUnanswered,
  endWith,
  endWithHandoff,
  endWithProblem,
  type Ending,
  type Play,
} from "./stages.ts";

/**
 * Asks the model until it has a reply or starts a playbook, and makes the calls that it asks for in
 * between. While a playbook is in progress, also if it waits for an approval, the model can only
 * reply.
 */
export function* askModel(facts: TurnFacts): TurnMoves<Play | Ending> {
  const { agent, session, isPaused, playbooks } = facts;
  // The model must see the outcomes of earlier calls. Otherwise it may ask for one a second time.
  const [failed] = yield* settle();
  if (failed !== undefined && handsOffOn(agent, "action_failure")) {
    return endWithHandoff(facts, afterFailure(failed.action));
  }
  const mayCallActions = session.frames.length === 0;
  const mayStartPlaybook = mayCallActions && !isPaused && playbooks.length > 0;
  const permissions = { mayCallActions, mayStartPlaybook };
  const observations: NewObservation[] = [];
  for (let steps = 0; steps < agent.limits.max_steps_per_turn; steps++) {
    const thought = yield* think({ type: "answer" }, permissions);
    observations.push(...(thought.answer?.observations ?? []));
    const next = yield* applyAnswer(facts, thought, permissions);
    if (next !== undefined) return { ...next, observations };
  }
  const ending = endWithProblem(facts, "guardrail", "The turn took too many steps.");
  return { ...ending, observations };
}

/**
 * Decides what follows from the model's answer. Returns undefined after calls of actions: the model
 * must see their outcomes before it replies.
 */
function* applyAnswer(
  facts: TurnFacts,
  { answer, failure }: ModelResult,
  { mayCallActions, mayStartPlaybook }: Permissions,
): TurnMoves<Play | Ending | undefined> {
  if (answer === null) return endWithProblem(facts, failure, reasonFor(answer));
  const handoff = handoffAfter(facts, answer);
  if (handoff !== undefined) return endWithHandoff(facts, handoff);
  const playbook = mayStartPlaybook ? playbookOf(facts, answer, failure) : undefined;
  if (playbook !== undefined) {
    const slots = allowedValues(playbook.definition.slots, answer.slots ?? {}, (words) =>
      mayFillSlot(facts, words),
    );
    return beginPlaybook(facts, playbook, slots);
  }
  if (answer.calls !== undefined && mayCallActions) return yield* makeCalls(facts, answer.calls);
  if (failure !== null) return endWithProblem(facts, failure, reasonFor(answer));
  return endWithReply(facts, answer);
}

/** Returns the playbook that an answer names. If it has nothing but an intent, the intent's one. */
function playbookOf(
  { playbooks }: TurnFacts,
  { playbook_id, intent, text, calls }: ModelAnswer,
  failure: ModelResult["failure"],
): PinnedPlaybook | undefined {
  if (playbook_id !== undefined) return playbooks.find(({ id }) => id === playbook_id);
  const saysMore = text !== undefined || calls !== undefined || failure !== null;
  return intent === undefined || saysMore ? undefined : playbookByIntent(playbooks, intent);
}

/** Makes the model's calls. Ends the turn at the first that fails, if a rule hands off then. */
function* makeCalls(
  facts: TurnFacts,
  calls: NonNullable<ModelAnswer["calls"]>,
): TurnMoves<Ending | undefined> {
  for (const { action, input } of calls) {
    const outcome = yield* act(action, input, "model");
    if (outcome.status === "failed" && handsOffOn(facts.agent, "action_failure")) {
      return endWithHandoff(facts, afterFailure(action));
    }
  }
  return undefined;
}

function endWithReply(facts: TurnFacts, answer: ModelAnswer): Ending {
  const { agent, channel, session } = facts;
  const reply = replyIn(answer);
  const text = reply === undefined ? null : replyOf(agent, channel, [reply]);
  if (text === null) return endUnanswered(facts);
  const { intent = null, confidence = null } = answer;
  return { ...endWith(text), frames: session.frames, result: { intent, confidence } };
}

/** The minimum confidence of an answer beside a playbook. */
const minAsideConfidence = 0.5;

/**
 * Answers a contact that asks something else instead of answering the playbook, then repeats the
 * question. This does not count as a failed attempt of the playbook.
 */
export function* answerAside(
  facts: TurnFacts,
  frames: readonly Frame[],
  question: string | undefined,
): TurnMoves<Ending | undefined> {
  const { answer, failure } = yield* think({ type: "answer" });
  if (failure !== null && handsOffOn(facts.agent, failure)) {
    return endWithHandoff(facts, { rule: failure, reason: reasonFor(answer) });
  }
  if (answer === null) return undefined;
  const { observations = [] } = answer;
  const handoff = handoffAfter(facts, answer);
  if (handoff !== undefined) return { ...endWithHandoff(facts, handoff), observations };
  const reply = replyIn(answer);
  if (reply === undefined || (answer.confidence ?? 1) < minAsideConfidence) return undefined;
  const text = replyOf(facts.agent, facts.channel, [reply], question);
  return text === null ? undefined : { ...endWith(text), frames, observations };
}

/** Returns the text to send. A text beside calls is not sent: it may say that they were made. */
const replyIn = ({ text, calls }: ModelAnswer): string | undefined =>
  calls === undefined ? text : undefined;

/** Describes a failure of the model. With an answer, only its text was removed. */
const reasonFor = (answer: ModelAnswer | null): string =>
  answer === null ? "The model gave no answer." : "A reply was held back.";

/** Returns the hand-off that a model's answer leads to, if any. */
function handoffAfter({ agent }: TurnFacts, answer: ModelAnswer): Handoff | undefined {
  const { handoff, intent, confidence = 1, calls, playbook_id } = answer;
  if (handoff !== undefined) return handoff;
  if (intent !== undefined && wordsFor(agent, "intent").includes(intent)) {
    return { rule: "intent", reason: `The contact's intent is "${intent}".` };
  }
  const isReply = calls === undefined && playbook_id === undefined;
  return isReply && limitsFor(agent, "confidence_below").some((min) => confidence < min)
    ? { rule: "confidence_below", reason: "The model is not sure of its answer." }
    : undefined;
}

const afterFailure = (action: string): Handoff => ({
  rule: "action_failure",
  reason: `${action} failed.`,
});
