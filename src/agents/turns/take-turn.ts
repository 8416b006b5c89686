/**
 * One turn of an agent, as a generator of moves. The facts and the results of earlier moves alone
 * decide the next move. The order is fixed: loop guard, hand-off rules, the current playbook, a
 * playbook started by keywords, the model, the fallback text.
 */
import type { Ending, HandOff, NewObservation, TurnFacts } from "./turn-types.ts";
import { play, type Played } from "../playbooks/play.ts";
import type { PlayEnd } from "../playbooks/play-types.ts";
import { beginFrame, type Frame } from "../playbooks/frames.ts";
import { allowedValues } from "../playbooks/slots.ts";
import { triggeredPlaybook } from "../playbooks/trigger-rules.ts";
import type { PinnedPlaybook } from "../playbooks/types.ts";
import type { RunRequest } from "../runs/types.ts";
import { act, type ModelResult, settle, think, type TurnMoves } from "./moves.ts";
import type { Json, ModelAnswer } from "../../ports/index.ts";
import {
  endFailed,
  endSilently,
  endUnanswered,
  endWith,
  endWithFallback,
  endWithHandOff,
  endWithProblem,
} from "./endings.ts";
import {
  handOffFor,
  handsOffOn,
  limitsFor,
  ruleHandOff,
  requiredHandOff,
  wordsFor,
} from "./hand-off-rules.ts";
import { mayFillSlot } from "./guardrails.ts";
import { replyOf } from "./reply-text.ts";

export function* takeTurn(facts: TurnFacts): TurnMoves<Ending> {
  const { request, isResumed, isPaused, session, contactText } = facts;
  if (request?.type === "action") return yield* runAction(facts, request);
  if (isResumed) return yield* resume(facts);
  if (request !== null) return yield* playRequested(facts, request);

  const handOff = requiredHandOff(facts) ?? ruleHandOff(facts);
  if (handOff !== undefined) return endWithHandOff(facts, handOff);
  if (isPaused) return yield* askModel(facts);
  if (session.frames.length > 0) return yield* follow(facts, session.frames, contactText);
  const playbook = triggeredPlaybook(facts.playbooks, contactText);
  return yield* playbook === undefined ? askModel(facts) : begin(facts, playbook);
}

/** Runs a single action from a trigger. Nothing is sent. */
function* runAction(
  facts: TurnFacts,
  { action, input }: Extract<RunRequest, { readonly type: "action" }>,
): TurnMoves<Ending> {
  const outcome = yield* act(action, input);
  if (outcome.status === "failed") return endFailed(facts, outcome.error);
  return endSilently(facts, outcome.status === "done" ? outcome.output : null);
}

/** Plays a playbook from a trigger. */
function* playRequested(
  facts: TurnFacts,
  { playbook_id, slots }: Extract<RunRequest, { readonly type: "playbook" }>,
): TurnMoves<Ending> {
  const playbook = facts.library(playbook_id);
  if (playbook === undefined) return endFailed(facts, "The playbook was deleted or disabled.");
  return yield* follow(facts, [beginFrame(playbook, slots, answerContext(facts))], null);
}

/**
 * Continues after a decision about an action. A playbook repeats its step, and a model gets the
 * outcome. An approved action runs even if the agent no longer lists it, or if its playbook has
 * ended in the meantime.
 */
function* resume(facts: TurnFacts): TurnMoves<Ending> {
  if (facts.isAwaited) return yield* follow(facts, facts.session.frames, null);
  const errors: string[] = [];
  for (const { action, input } of facts.approved) {
    const outcome = yield* act(action, input);
    if (outcome.status === "failed") errors.push(outcome.error);
  }
  if (facts.request === null) return yield* askModel(facts);
  for (const { error } of yield* settle()) errors.push(error ?? "failed");
  // No contact waits for a reply to a triggered run.
  const [error] = errors;
  return error === undefined ? endSilently(facts, null) : endFailed(facts, error);
}

/** Returns how the contact's words are read as values of slots. */
function answerContext({ language, contact, writtenAt }: TurnFacts) {
  return { language, contact, now: writtenAt };
}

/** Begins a playbook. The slots are the model's. */
function begin(
  facts: TurnFacts,
  playbook: PinnedPlaybook,
  slots: Readonly<Record<string, Json>> = {},
): TurnMoves<Ending> {
  const allowedSlots = allowedValues(playbook.definition.slots, slots, (words) =>
    mayFillSlot(facts, words),
  );
  return follow(facts, [beginFrame(playbook, allowedSlots, answerContext(facts))], null);
}

/** Plays on from the frames. */
function* follow(
  facts: TurnFacts,
  frames: readonly Frame[],
  contactText: string | null,
): TurnMoves<Ending> {
  const { agent } = facts;
  const played = yield* play(frames, contactText, facts.library, {
    ...answerContext(facts),
    steps: agent.limits.max_steps_per_turn,
    stopsOn: (failure) => handsOffOn(agent, failure),
    mayFillSlot: (words) => mayFillSlot(facts, words),
  });
  const ending = yield* endPlay(facts, frames, played);
  return { ...ending, playbook_id: frames[0]?.playbook_id ?? null };
}

/** Ends the turn as the playbook says. `before` are the frames from which it was played. */
function* endPlay(facts: TurnFacts, before: readonly Frame[], played: Played): TurnMoves<Ending> {
  const { agent, channel } = facts;
  const { end, texts, frames } = played;
  const text = replyOf(agent, channel, texts);
  switch (end.type) {
    case "asks": {
      const aside = end.understood ? undefined : yield* answerAside(facts, before, texts.at(-1));
      const question = replyOf(agent, channel, texts.slice(0, -1), texts.at(-1));
      return aside ?? { ...endWith(question), frames, isStuck: !end.understood };
    }
    case "waits":
      return { ...endWith(text), frames, isWaiting: true };
    case "over":
    case "called_off":
      if (text !== null || facts.request !== null) return endWith(text);
      // The contact still gets an answer, but not from another playbook.
      return yield* askModel({
        ...facts,
        session: { ...facts.session, frames: [] },
        playbooks: [],
      });
    case "handoff": {
      const handOff = handOffFor(null, end.reason, end.summary ?? slotSummary(end.slots));
      const ending = endWithHandOff(facts, handOff);
      return { ...ending, text: text ?? ending.text };
    }
    case "resolved":
      return { ...endWith(text), closes: true };
    case "stuck":
      return endStuck(facts, end, texts);
  }
}

function endStuck(
  facts: TurnFacts,
  { cause, reason }: Extract<PlayEnd, { readonly type: "stuck" }>,
  texts: readonly string[],
): Ending {
  if (handsOffOn(facts.agent, cause)) {
    return endWithHandOff(facts, handOffFor(cause, reason), texts);
  }
  const isFailed = facts.request !== null;
  return { ...endWithFallback(facts, texts), frames: [], result: { error: reason }, isFailed };
}

/** The minimum confidence of an answer beside a playbook. */
const minAsideConfidence = 0.5;

/**
 * Answers a contact that asks something else instead of answering the playbook, then repeats the
 * question. This does not count as a failed attempt of the playbook.
 */
function* answerAside(
  facts: TurnFacts,
  frames: readonly Frame[],
  question: string | undefined,
): TurnMoves<Ending | undefined> {
  const { answer, failure } = yield* think({ type: "answer" });
  if (failure !== null && handsOffOn(facts.agent, failure)) {
    return endWithHandOff(facts, handOffFor(failure, noAnswer));
  }
  if (answer === null) return undefined;
  const observations = observationsIn(answer);
  const handOff = handOffAfter(facts, answer);
  if (handOff !== undefined) return { ...endWithHandOff(facts, handOff), observations };
  const reply = replyIn(answer);
  if (reply === undefined || (answer.confidence ?? 1) < minAsideConfidence) return undefined;
  const text = replyOf(facts.agent, facts.channel, [reply], question);
  return text === null ? undefined : { ...endWith(text), frames, observations };
}

/**
 * Asks the model until it has a reply, and makes the calls that it asks for in between. While a
 * playbook is in progress, also if it waits for an approval, the model can only reply.
 */
function* askModel(facts: TurnFacts): TurnMoves<Ending> {
  const { agent, session, isPaused, playbooks } = facts;
  // The model must see the outcomes of earlier calls. Otherwise it may ask for one a second time.
  const [failed] = yield* settle();
  if (failed !== undefined && handsOffOn(agent, "action_failure")) {
    return endWithHandOff(facts, afterFailure(failed.action));
  }
  const mayCallActions = session.frames.length === 0;
  const mayStartPlaybook = mayCallActions && !isPaused && playbooks.length > 0;
  const observations: NewObservation[] = [];
  for (let steps = 0; steps < agent.limits.max_steps_per_turn; steps++) {
    const thought = yield* think({ type: "answer" }, { mayCallActions, mayStartPlaybook });
    if (thought.answer !== null) observations.push(...observationsIn(thought.answer));
    const ending = yield* applyAnswer(facts, thought, mayCallActions);
    if (ending !== undefined) {
      return { ...ending, observations: [...observations, ...ending.observations] };
    }
  }
  return { ...endWithProblem(facts, "guardrail", "The turn took too many steps."), observations };
}

/**
 * Does what the model answers. Undefined if that was calls of actions: the model must see their
 * outcomes before it replies.
 */
function* applyAnswer(
  facts: TurnFacts,
  { answer, failure }: ModelResult,
  mayCallActions: boolean,
): TurnMoves<Ending | undefined> {
  if (answer === null) return endWithProblem(facts, failure, noAnswer);
  const handOff = handOffAfter(facts, answer);
  if (handOff !== undefined) return endWithHandOff(facts, handOff);
  const playbook = facts.playbooks.find(({ id }) => id === answer.playbook_id);
  if (playbook !== undefined) return yield* begin(facts, playbook, answer.slots);
  if (answer.calls !== undefined && mayCallActions) return yield* makeCalls(facts, answer.calls);
  if (failure !== null) return endWithProblem(facts, failure, "A reply was held back.");
  return endWithReply(facts, answer);
}

/** Makes the model's calls. Ends the turn at the first that fails, if a rule hands off then. */
function* makeCalls(
  facts: TurnFacts,
  calls: NonNullable<ModelAnswer["calls"]>,
): TurnMoves<Ending | undefined> {
  for (const { action, input } of calls) {
    const outcome = yield* act(action, input, "model");
    if (outcome.status === "failed" && handsOffOn(facts.agent, "action_failure")) {
      return endWithHandOff(facts, afterFailure(action));
    }
  }
  return undefined;
}

/** Sends the model's reply. */
function endWithReply(facts: TurnFacts, answer: ModelAnswer): Ending {
  const { agent, channel, session } = facts;
  const reply = replyIn(answer);
  const text = reply === undefined ? null : replyOf(agent, channel, [reply]);
  if (text === null) return endUnanswered(facts);
  const { intent = null, confidence = null } = answer;
  return { ...endWith(text), frames: session.frames, result: { intent, confidence } };
}

/** Returns the text to send. A text beside calls may speak of them as done, so it is not sent. */
const replyIn = ({ text, calls }: ModelAnswer): string | undefined =>
  calls === undefined ? text : undefined;

const noAnswer = "The model gave no answer.";

/** Returns the hand-off that a model's answer leads to, if any. */
function handOffAfter({ agent }: TurnFacts, answer: ModelAnswer): HandOff | undefined {
  const { handoff, intent, confidence = 1, calls, playbook_id } = answer;
  if (handoff !== undefined) return handOffFor(null, handoff.reason, handoff.summary);
  if (intent !== undefined && wordsFor(agent, "intent").includes(intent)) {
    return handOffFor("intent", `The contact's intent is "${intent}".`);
  }
  const isReply = calls === undefined && playbook_id === undefined;
  return isReply && limitsFor(agent, "confidence_below").some((min) => confidence < min)
    ? handOffFor("confidence_below", "The model is not sure of its answer.")
    : undefined;
}

const afterFailure = (action: string): HandOff => handOffFor("action_failure", `${action} failed.`);

function observationsIn({ observations = [] }: ModelAnswer): readonly NewObservation[] {
  return observations.map(({ content, kind, confidence = null }) => ({
    content,
    kind,
    confidence,
  }));
}

/** Returns slot values as text, for the people who take over. Null if no slot has a value. */
function slotSummary(slots: Frame["slots"]): string | null {
  const filled = Object.entries(slots).filter(([, value]) => value !== null);
  const texts = filled.map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return texts.length === 0 ? null : texts.join(", ");
}
