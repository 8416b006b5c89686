/**
 * The stages of a turn: it plays a playbook, asks the model, or ends. The result of each stage is
 * the next stage. The functions named `end…` and `handOff…` return the ways to end a turn.
 */
import { storable } from "../../../kernel/index.ts";
import type { Json } from "../../../ports/index.ts";
import type { Handoff } from "../../handling/hand-off.ts";
import { beginFrame, type Frame } from "../../playbooks/play/frames.ts";
import type { AnswerContext } from "../../playbooks/play/slots.ts";
import type { PinnedPlaybook } from "../../playbooks/types.ts";
import type { HandoffCause } from "../../settings/handoff-rule-types.ts";
import type { NewObservation, Progress, TurnFacts, TurnOutcome } from "../turn-types.ts";
import { handsOffOn, limitsFor } from "./handoff-rules.ts";
import { replyOf } from "./reply-text.ts";

export type Stage = Play | Ask | Ending;

/** Plays playbooks, from the steps where the frames stand. */
export interface Play {
  readonly stage: "play";
  readonly frames: readonly Frame[];
  /** The contact's message, if it answers the playbook. */
  readonly contactText: string | null;
  /** What the model noted before it started the playbook. */
  readonly observations: readonly NewObservation[];
}

interface Ask {
  readonly stage: "ask";
}

export const askModelNext: Ask = { stage: "ask" };

/** The outcome of the turn, apart from what is recorded while its moves are made. */
export interface Ending extends Omit<TurnOutcome, "source" | keyof Progress> {
  readonly stage: "end";
}

/** Plays from these frames. The model has noted nothing before. */
export function playOn(frames: readonly Frame[], contactText: string | null): Play {
  return { stage: "play", frames, contactText, observations: [] };
}

/** Begins a playbook. The contact's message does not count as an answer to it. */
export function beginPlaybook(
  facts: TurnFacts,
  playbook: PinnedPlaybook,
  slots: Readonly<Record<string, Json>> = {},
): Play {
  return playOn([beginFrame(playbook, slots, answerContext(facts))], null);
}

/** Returns the language, the contact and the time with which an answer is read. */
export function answerContext({
  language,
  contact,
  writtenAt,
}: TurnFacts): AnswerContext & Pick<TurnFacts, "contact"> {
  return { language, contact, now: writtenAt };
}

/** Sends a text, or nothing. Afterwards no playbook is in progress. */
export function endWith(text: string | null): Ending {
  return {
    stage: "end",
    text,
    handoff: null,
    isFailed: false,
    closes: false,
    frames: [],
    playbook_id: null,
    playbookWaits: false,
    isFailedAttempt: false,
    observations: [],
    result: null,
  };
}

/** Sends nothing and leaves the current playbook as it is. */
export function endSilently({ session }: TurnFacts, result: Json): Ending {
  return { ...endWith(null), frames: session.frames, result };
}

/** Ends a triggered run that could not do what it was triggered for. */
export function endFailed(facts: TurnFacts, error: string): Ending {
  return { ...endSilently(facts, { error }), isFailed: true };
}

/** Hands off to people, and sends the agent's text for that after what the playbook has said. */
export function endWithHandoff(
  facts: TurnFacts,
  handoff: Handoff,
  texts: readonly string[] = [],
): Ending {
  const { agent, channel } = facts;
  const text = replyOf(agent, channel, texts, agent.handoff.message);
  return { ...handOffSilently(facts, handoff), text };
}

/** Hands off to people and sends nothing. By default, the summary is what the contact wrote. */
export function handOffSilently({ contactText }: TurnFacts, handoff: Handoff): Ending {
  const summary = handoff.summary ?? storable(contactText, 500);
  return { ...endWith(null), handoff: { ...handoff, summary } };
}

/** Sends the fallback text after what the playbook has said. Counts as a failed attempt. */
export function endWithFallback(
  { agent, channel, session }: TurnFacts,
  texts: readonly string[] = [],
): Ending {
  const text = replyOf(agent, channel, texts, agent.fallback_text);
  return { ...endWith(text), frames: session.frames, isFailedAttempt: true };
}

/** Sends the fallback text, or hands off if a rule limits the failed attempts. */
export function endUnanswered(facts: TurnFacts): Ending {
  const failed = facts.session.failed_attempts + 1;
  return limitsFor(facts.agent, "failed_attempts").some((max) => failed >= max)
    ? endWithHandoff(facts, { rule: "failed_attempts", reason: "The agent found no answer." })
    : endWithFallback(facts);
}

/** Hands off if a rule does so for the cause. Otherwise the turn has found no answer. */
export function endWithProblem(
  facts: TurnFacts,
  cause: HandoffCause | null,
  reason: string,
): Ending {
  return cause !== null && handsOffOn(facts.agent, cause)
    ? endWithHandoff(facts, { rule: cause, reason })
    : { ...endUnanswered(facts), result: { error: reason } };
}
