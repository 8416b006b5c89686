/**
 * One turn of an agent, as a generator of moves: what it does next follows from the facts and from what came of the moves before, and from
 * nothing else. The order is fixed: loop guard, rules of hand-off, the playbook that goes on, a playbook that the words start, the model,
 * the fallback text.
 */
import type { Noticed } from "./turn-rows.ts";
import type { HandoffCause } from "./types.ts";
import { beginFrame, play, type Played } from "./playbooks/play.ts";
import { allowed } from "./playbooks/slots.ts";
import { triggered } from "./playbooks/triggers.ts";
import type { Frame, PinnedPlaybook } from "./playbooks/types.ts";
import { act, think } from "./runs/rules.ts";
import type { Moves } from "./runs/types.ts";
import type { Json, ModelAnswer } from "../ports/index.ts";
import type { Ending, HandOff } from "./ending.ts";
import type { TurnFacts } from "./facts.ts";
import { aloud, endsAt, handOffAsRuled, listOf, mustHandOff, ruleFor } from "./hand-off-rules.ts";
import { mayHold, replyOf } from "./reply.ts";

export function* takeTurn(facts: TurnFacts): Moves<Ending> {
  const { request, isResumed, isPaused, session } = facts;
  if (request?.type === "action") return yield* carryOut(facts, request.action, request.input);
  if (request !== null && !isResumed) {
    const playbook = facts.library(request.playbook_id);
    if (playbook === undefined) {
      return nothing(facts, { error: "The playbook is gone or disabled." });
    }
    return yield* follow(facts, [beginFrame(playbook, request.slots, facts)], null);
  }
  if (isResumed) return yield* resume(facts);

  const handOff = mustHandOff(facts) ?? handOffAsRuled(facts);
  if (handOff !== undefined) return handedOff(facts, handOff);
  if (session.frames.length > 0 && !isPaused) {
    return yield* follow(facts, session.frames, facts.said);
  }
  const playbook = isPaused ? undefined : triggered(facts.playbooks, facts.said);
  if (playbook !== undefined) return yield* begin(facts, playbook);
  return yield* answer(facts);
}

/** An action that was asked for by itself: nobody is told anything. */
function* carryOut(facts: TurnFacts, action: string, input: Json): Moves<Ending> {
  const outcome = yield* act(action, input);
  return nothing(
    facts,
    outcome.status === "done"
      ? outcome.output
      : outcome.status === "failed"
        ? { error: outcome.error }
        : null,
  );
}

/**
 * Somebody has decided about an action: a playbook comes to it again by itself, a model is told what came of it. What was approved is done
 * also where the agent is given the action no more, and where its playbook has been left meanwhile.
 */
function* resume(facts: TurnFacts): Moves<Ending> {
  if (facts.isAwaited) return yield* follow(facts, facts.session.frames, null);
  for (const { action, input } of facts.approved) yield* act(action, input);
  // Of what the host ordered, nobody waits to be told.
  return facts.request === null ? yield* answer(facts) : nothing(facts, null);
}

function begin(
  facts: TurnFacts,
  playbook: PinnedPlaybook,
  slots: Readonly<Record<string, Json>> = {},
): Moves<Ending> {
  const held = allowed(playbook.definition.slots, slots, (words) => mayHold(facts, words));
  return follow(facts, [beginFrame(playbook, held, facts)], null);
}

function* follow(facts: TurnFacts, frames: readonly Frame[], said: string | null): Moves<Ending> {
  const { agent, contact, language, now } = facts;
  const played = yield* play(frames, said, facts.library, {
    steps: agent.limits.max_steps_per_turn,
    language,
    now,
    contact,
    endsAt: (failure) => endsAt(agent, failure),
    mayHold: (words) => mayHold(facts, words),
  });
  const playbook_id = frames[0]?.playbook_id ?? null;
  const went = { frames: played.frames, playbook_id };
  if (played.end.type === "asks" && !played.end.understood) {
    const aside = yield* answerAside(facts, played, frames);
    if (aside !== undefined) return { ...aside, playbook_id };
  }
  if (played.end.type === "stuck") return { ...stuck(facts, played), ...went };
  const text = replyOf(agent, facts.channel, played.texts);
  if (text === null && facts.request === null && hasLetGo(played)) {
    // It had nothing to say: who wrote gets an answer all the same, and not from another playbook.
    const free = { ...facts, session: { ...facts.session, frames: [] }, playbooks: [] };
    return { ...(yield* answer(free)), playbook_id };
  }
  if (played.end.type === "handoff") {
    const handed = handedOff(facts, aloud(null, played.end.reason, gathered(frames, played)));
    return { ...handed, text: text ?? handed.text, ...went };
  }
  const { type } = played.end;
  return {
    ...told(text),
    ...went,
    closes: type === "resolved",
    isWaiting: type === "waits",
    isStuck: isUnheard(played),
  };
}

const hasLetGo = ({ end }: Played): boolean => end.type === "over" || end.type === "called_off";
const isUnheard = ({ end }: Played): boolean => end.type === "asks" && !end.understood;

/** A contact that asks something else instead of answering is answered, and asked again; it is no failed attempt of the playbook's. */
function* answerAside(
  facts: TurnFacts,
  played: Played,
  frames: readonly Frame[],
): Moves<Ending | undefined> {
  const { answer: said, failure } = yield* think({ type: "answer" });
  if (failure !== null && endsAt(facts.agent, failure)) {
    return handedOff(facts, aloud(failure, noAnswer));
  }
  if (said === null) return undefined;
  const handOff = handOffAfter(facts, said);
  if (handOff !== undefined) return { ...handedOff(facts, handOff), noticed: noticedIn(said) };
  if (said.text === undefined || said.calls !== undefined || (said.confidence ?? 1) < 0.5) {
    return undefined;
  }
  const text = replyOf(facts.agent, facts.channel, [said.text, ...played.texts.slice(-1)]);
  return text === null ? undefined : { ...told(text), frames, noticed: noticedIn(said) };
}

function stuck(facts: TurnFacts, { end, texts }: Played): Ending {
  if (end.type !== "stuck") throw new TypeError("a playbook that goes on is not stuck");
  if (endsAt(facts.agent, end.cause)) return handedOff(facts, aloud(end.cause, end.reason), texts);
  return { ...fallback(facts, texts), result: { error: end.reason } };
}

/** The model's part: it is asked until it has an answer, and what it wants done in between is done. */
function* answer(facts: TurnFacts): Moves<Ending> {
  const { agent, session } = facts;
  const noticed: Noticed[] = [];
  for (let steps = 0; steps < agent.limits.max_steps_per_turn; steps++) {
    const isFree = session.frames.length === 0 && !facts.isPaused && facts.playbooks.length > 0;
    const { answer: said, failure } = yield* think({ type: "answer" }, { acts: true, isFree });
    if (said === null) return { ...byRuleOr(facts, failure, noAnswer), noticed };
    noticed.push(...noticedIn(said));
    const handOff = handOffAfter(facts, said);
    if (handOff !== undefined) return { ...handedOff(facts, handOff), noticed };
    const playbook = facts.playbooks.find(({ id }) => id === said.playbook_id);
    if (playbook !== undefined && isFree) {
      return { ...(yield* begin(facts, playbook, said.slots)), noticed };
    }
    if (said.calls !== undefined && said.calls.length > 0) {
      for (const call of said.calls.slice(0, mostCalls)) {
        const outcome = yield* act(call.action, call.input, "model");
        if (outcome.status === "failed" && ruleFor(agent, "action_failure") !== undefined) {
          return {
            ...handedOff(facts, aloud("action_failure", `${call.action} failed.`)),
            noticed,
          };
        }
      }
      continue;
    }
    if (failure !== null) return { ...byRuleOr(facts, failure, "A reply was held back."), noticed };
    const text = said.text === undefined ? null : replyOf(agent, facts.channel, [said.text]);
    if (text === null) return { ...stumbled(facts), noticed };
    const result = { intent: said.intent ?? null, confidence: said.confidence ?? null };
    return { ...told(text), frames: session.frames, noticed, result };
  }
  return { ...byRuleOr(facts, "guardrail", "The turn took too many steps."), noticed };
}

const noAnswer = "The model gave no answer.";
/** Calls of one answer. */
const mostCalls = 8;

/** What of an answer asks for people. */
function handOffAfter({ agent }: TurnFacts, said: ModelAnswer): HandOff | undefined {
  if (said.handoff !== undefined) return byModel(said.handoff);
  const intents = listOf(ruleFor(agent, "intent")?.value);
  if (said.intent !== undefined && intents.includes(said.intent)) {
    return aloud("intent", `The contact's intent is "${said.intent}".`);
  }
  const least = ruleFor(agent, "confidence_below")?.value;
  const asks = said.calls === undefined && said.playbook_id === undefined;
  return asks && typeof least === "number" && (said.confidence ?? 1) < least
    ? aloud("confidence_below", "The model is not sure of its answer.")
    : undefined;
}

function byModel({ reason, summary }: NonNullable<ModelAnswer["handoff"]>): HandOff {
  return aloud(null, reason, summary ?? null);
}

/** Nothing better than the fallback text was found: a rule may have had enough of that. */
function stumbled(facts: TurnFacts): Ending {
  const most = ruleFor(facts.agent, "failed_attempts")?.value;
  const isEnough = typeof most === "number" && facts.session.failed_attempts + 1 >= most;
  if (isEnough) return handedOff(facts, aloud("failed_attempts", "The agent found no answer."));
  return fallback(facts);
}

function byRuleOr(facts: TurnFacts, cause: HandoffCause | null, reason: string): Ending {
  if (cause !== null && endsAt(facts.agent, cause)) return handedOff(facts, aloud(cause, reason));
  return { ...stumbled(facts), result: { error: reason } };
}

/** `texts` is what a playbook has said before. */
function handedOff(
  { agent, channel }: TurnFacts,
  handOff: HandOff,
  texts: readonly string[] = [],
): Ending {
  const { message = "" } = agent.handoff;
  const text = handOff.isSilent ? null : replyOf(agent, channel, [...texts, message]);
  return { ...told(text), handOff };
}

function fallback({ agent, channel, session }: TurnFacts, texts: readonly string[] = []): Ending {
  const text = replyOf(agent, channel, [...texts, agent.fallback_text]);
  return { ...told(text), frames: session.frames, isStuck: true };
}

function told(text: string | null): Ending {
  return {
    text,
    handOff: null,
    closes: false,
    frames: [],
    playbook_id: null,
    isWaiting: false,
    isStuck: false,
    noticed: [],
    result: null,
  };
}

/** Whatever the conversation was in the middle of goes on. */
const nothing = ({ session }: TurnFacts, result: Json): Ending => ({
  ...told(null),
  frames: session.frames,
  result,
});

function noticedIn({ observations = [] }: ModelAnswer): readonly Noticed[] {
  return observations.map(({ content, kind, confidence }) => ({
    content,
    kind,
    confidence: confidence ?? null,
  }));
}

/** What a playbook has found out, for the people who go on from there. */
function gathered(before: readonly Frame[], { frames }: Played): string | null {
  const slots = Object.entries((frames.at(-1) ?? before.at(-1))?.slots ?? {});
  return slots.length === 0
    ? null
    : slots
        .map(
          ([name, value]) =>
            `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
        )
        .join(", ");
}
