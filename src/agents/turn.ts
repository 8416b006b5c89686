/**
 * One turn of an agent, as a generator of moves. The facts and the results of earlier moves alone
 * decide the next move. The order is fixed: loop guard, hand-off rules, the current playbook, a
 * playbook started by keywords, the model, the fallback text.
 */
import type { Ending, HandOff, NewObservation, TurnFacts } from "./turn-types.ts";
import type { HandoffCause } from "./settings/handoff-rule-types.ts";
import { beginFrame, play, type Played } from "./playbooks/play.ts";
import { allowedValues } from "./playbooks/slots.ts";
import { triggeredPlaybook } from "./playbooks/rules.ts";
import type { Frame, PinnedPlaybook } from "./playbooks/types.ts";
import { act, settle, think } from "./runs/rules.ts";
import type { TurnMoves } from "./runs/types.ts";
import type { Json, ModelAnswer } from "../ports/index.ts";
import {
  openHandOff,
  handsOffOn,
  limitsFor,
  ruleHandOff,
  requiredHandOff,
  wordsFor,
} from "./hand-off-rules.ts";
import { mayFillSlot, replyOf } from "./reply.ts";

export function* takeTurn(facts: TurnFacts): TurnMoves<Ending> {
  const { request, isResumed, isPaused, session } = facts;
  if (request?.type === "action") return yield* runAction(facts, request.action, request.input);
  if (request !== null && !isResumed) {
    const playbook = facts.library(request.playbook_id);
    if (playbook === undefined) {
      return failure(facts, "The playbook was deleted or disabled.");
    }
    const frame = beginFrame(playbook, request.slots, answerContext(facts));
    return yield* follow(facts, [frame], null);
  }
  if (isResumed) return yield* resume(facts);

  const handOff = requiredHandOff(facts) ?? ruleHandOff(facts);
  if (handOff !== undefined) return handOffEnding(facts, handOff);
  if (session.frames.length > 0 && !isPaused) {
    return yield* follow(facts, session.frames, facts.contactText);
  }
  const playbook = isPaused ? undefined : triggeredPlaybook(facts.playbooks, facts.contactText);
  if (playbook !== undefined) return yield* begin(facts, playbook);
  return yield* answer(facts);
}

/** Runs a single action from a trigger. Nothing is sent. */
function* runAction(facts: TurnFacts, action: string, input: Json): TurnMoves<Ending> {
  const outcome = yield* act(action, input);
  if (outcome.status === "failed") return failure(facts, outcome.error);
  return nothing(facts, outcome.status === "done" ? outcome.output : null);
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
  if (facts.request === null) return yield* answer(facts);
  for (const { error } of yield* settle()) errors.push(error ?? "failed");
  // No contact waits for a reply to a triggered run.
  const [error] = errors;
  return error === undefined ? nothing(facts, null) : failure(facts, error);
}

/** Returns how the contact's words are read as values of slots. */
function answerContext({ language, contact, writtenAt }: TurnFacts) {
  return { language, contact, now: writtenAt };
}

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
  const playbook_id = frames[0]?.playbook_id ?? null;
  const position = { frames: played.frames, playbook_id };
  if (played.end.type === "asks" && !played.end.understood) {
    const reply = yield* answerAside(facts, played, frames);
    if (reply !== undefined) return { ...reply, playbook_id };
  }
  if (played.end.type === "stuck") return { ...stuck(facts, played), ...position };
  const { texts } = played;
  const text =
    played.end.type === "asks"
      ? replyOf(agent, facts.channel, texts.slice(0, -1), texts.at(-1))
      : replyOf(agent, facts.channel, texts);
  if (text === null && facts.request === null && hasEnded(played)) {
    // The playbook ended without a text. The contact still gets an answer, but not from another
    // playbook.
    const withoutPlaybooks = { ...facts, session: { ...facts.session, frames: [] }, playbooks: [] };
    return { ...(yield* answer(withoutPlaybooks)), playbook_id };
  }
  if (played.end.type === "handoff") {
    const ending = handOffEnding(
      facts,
      openHandOff(null, played.end.reason, slotSummary(played.end.slots)),
    );
    return { ...ending, text: text ?? ending.text, ...position };
  }
  const { type } = played.end;
  return {
    ...endWith(text),
    ...position,
    closes: type === "resolved",
    isWaiting: type === "waits",
    isStuck: isInvalidAnswer(played),
  };
}

const hasEnded = ({ end }: Played): boolean => end.type === "over" || end.type === "called_off";
const isInvalidAnswer = ({ end }: Played): boolean => end.type === "asks" && !end.understood;

/** The minimum confidence of an answer beside a playbook. */
const minAsideConfidence = 0.5;

/**
 * Answers a contact that asks something else instead of answering the playbook, then repeats the
 * question. This does not count as a failed attempt of the playbook.
 */
function* answerAside(
  facts: TurnFacts,
  played: Played,
  frames: readonly Frame[],
): TurnMoves<Ending | undefined> {
  const { answer: modelAnswer, failure } = yield* think({ type: "answer" });
  if (failure !== null && handsOffOn(facts.agent, failure)) {
    return handOffEnding(facts, openHandOff(failure, noAnswer));
  }
  if (modelAnswer === null) return undefined;
  const handOff = handOffAfter(facts, modelAnswer);
  if (handOff !== undefined) {
    return { ...handOffEnding(facts, handOff), observations: observationsIn(modelAnswer) };
  }
  const reply = replyIn(modelAnswer);
  if (reply === undefined || (modelAnswer.confidence ?? 1) < minAsideConfidence) return undefined;
  const text = replyOf(facts.agent, facts.channel, [reply], played.texts.at(-1));
  return text === null
    ? undefined
    : { ...endWith(text), frames, observations: observationsIn(modelAnswer) };
}

function stuck(facts: TurnFacts, { end, texts }: Played): Ending {
  if (end.type !== "stuck") throw new TypeError("the playbook is not stuck");
  if (handsOffOn(facts.agent, end.cause)) {
    return handOffEnding(facts, openHandOff(end.cause, end.reason), texts);
  }
  const isFailed = facts.request !== null;
  return { ...fallback(facts, texts), result: { error: end.reason }, isFailed };
}

/**
 * Asks the model until it has a reply, and makes the calls that it asks for in between. While a
 * playbook is in progress, also if it waits for an approval, the model can only reply.
 */
function* answer(facts: TurnFacts): TurnMoves<Ending> {
  const { agent, session } = facts;
  const observations: NewObservation[] = [];
  // The model must see the outcomes of earlier calls. Otherwise it may ask for one a second time.
  const [failed] = yield* settle();
  if (failed !== undefined && handsOffOn(agent, "action_failure")) {
    return handOffEnding(facts, afterFailure(failed.action));
  }
  const acts = session.frames.length === 0;
  const isFree = acts && !facts.isPaused && facts.playbooks.length > 0;
  for (let steps = 0; steps < agent.limits.max_steps_per_turn; steps++) {
    const { answer: modelAnswer, failure } = yield* think({ type: "answer" }, { acts, isFree });
    if (modelAnswer === null) {
      return { ...handOffOrFallback(facts, failure, noAnswer), observations };
    }
    observations.push(...observationsIn(modelAnswer));
    const handOff = handOffAfter(facts, modelAnswer);
    if (handOff !== undefined) return { ...handOffEnding(facts, handOff), observations };
    const playbook = facts.playbooks.find(({ id }) => id === modelAnswer.playbook_id);
    if (playbook !== undefined) {
      const ending = yield* begin(facts, playbook, modelAnswer.slots);
      return { ...ending, observations: [...observations, ...ending.observations] };
    }
    if (modelAnswer.calls !== undefined && acts) {
      for (const call of modelAnswer.calls.slice(0, maxCalls)) {
        const outcome = yield* act(call.action, call.input, "model");
        if (outcome.status === "failed" && handsOffOn(agent, "action_failure")) {
          return {
            ...handOffEnding(facts, afterFailure(call.action)),
            observations,
          };
        }
      }
      continue;
    }
    if (failure !== null) {
      return { ...handOffOrFallback(facts, failure, "A reply was held back."), observations };
    }
    const reply = replyIn(modelAnswer);
    const text = reply === undefined ? null : replyOf(agent, facts.channel, [reply]);
    if (text === null) return { ...fallbackOrHandOff(facts), observations };
    const result = {
      intent: modelAnswer.intent ?? null,
      confidence: modelAnswer.confidence ?? null,
    };
    return { ...endWith(text), frames: session.frames, observations, result };
  }
  return {
    ...handOffOrFallback(facts, "guardrail", "The turn took too many steps."),
    observations,
  };
}

/** Returns the text to send. A text beside calls may speak of them as done, so it is not sent. */
const replyIn = ({ text, calls }: ModelAnswer): string | undefined =>
  calls === undefined ? text : undefined;

const noAnswer = "The model gave no answer.";
/** The maximum number of calls that are made for one answer of the model. */
const maxCalls = 8;

/** Returns the hand-off that a model's answer leads to, if any. */
function handOffAfter({ agent }: TurnFacts, answer: ModelAnswer): HandOff | undefined {
  if (answer.handoff !== undefined) return byModel(answer.handoff);
  if (answer.intent !== undefined && wordsFor(agent, "intent").includes(answer.intent)) {
    return openHandOff("intent", `The contact's intent is "${answer.intent}".`);
  }
  const { confidence = 1 } = answer;
  const isReply = answer.calls === undefined && answer.playbook_id === undefined;
  return isReply && limitsFor(agent, "confidence_below").some((min) => confidence < min)
    ? openHandOff("confidence_below", "The model is not sure of its answer.")
    : undefined;
}

const afterFailure = (action: string): HandOff =>
  openHandOff("action_failure", `${action} failed.`);

function byModel({ reason, summary }: NonNullable<ModelAnswer["handoff"]>): HandOff {
  return openHandOff(null, reason, summary ?? null);
}

/** Sends the fallback text, or hands off if a rule limits the failed attempts. */
function fallbackOrHandOff(facts: TurnFacts): Ending {
  const failed = facts.session.failed_attempts + 1;
  if (limitsFor(facts.agent, "failed_attempts").some((max) => failed >= max)) {
    return handOffEnding(facts, openHandOff("failed_attempts", "The agent found no answer."));
  }
  return fallback(facts);
}

function handOffOrFallback(facts: TurnFacts, cause: HandoffCause | null, reason: string): Ending {
  if (cause !== null && handsOffOn(facts.agent, cause)) {
    return handOffEnding(facts, openHandOff(cause, reason));
  }
  return { ...fallbackOrHandOff(facts), result: { error: reason } };
}

/** `texts` are what the playbook has said before. */
function handOffEnding(
  { agent, channel }: TurnFacts,
  handOff: HandOff,
  texts: readonly string[] = [],
): Ending {
  const { message = "" } = agent.handoff;
  const text = handOff.isSilent ? null : replyOf(agent, channel, texts, message);
  return { ...endWith(text), handOff };
}

function fallback({ agent, channel, session }: TurnFacts, texts: readonly string[] = []): Ending {
  const text = replyOf(agent, channel, texts, agent.fallback_text);
  return { ...endWith(text), frames: session.frames, isStuck: true };
}

function endWith(text: string | null): Ending {
  return {
    text,
    handOff: null,
    isFailed: false,
    closes: false,
    frames: [],
    playbook_id: null,
    isWaiting: false,
    isStuck: false,
    observations: [],
    result: null,
  };
}

/** Sends nothing and leaves the current playbook as it is. */
const nothing = ({ session }: TurnFacts, result: Json): Ending => ({
  ...endWith(null),
  frames: session.frames,
  result,
});

/** Ends a triggered run that could not do what it was triggered for. */
const failure = (facts: TurnFacts, error: string): Ending => ({
  ...nothing(facts, { error }),
  isFailed: true,
});

function observationsIn({ observations = [] }: ModelAnswer): readonly NewObservation[] {
  return observations.map(({ content, kind, confidence }) => ({
    content,
    kind,
    confidence: confidence ?? null,
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
