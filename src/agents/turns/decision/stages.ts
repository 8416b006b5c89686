/**
 * The stages of a turn: it plays a playbook, asks the model, or ends. The result of each stage is
 * the next stage.
 */
import type { Json } from "../../../ports/index.ts";
import { beginFrame, type Frame } from "../../playbooks/play/frames.ts";
import type { AnswerContext } from "../../playbooks/play/slots.ts";
import type { PinnedPlaybook } from "../../playbooks/types.ts";
import type { Ending, NewObservation, TurnFacts } from "../turn-types.ts";

export type Stage = Play | Ask | End;

/** Plays playbooks, from the position that the frames hold. */
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

export interface End {
  readonly stage: "end";
  readonly ending: Ending;
}

export const askModelNext: Ask = { stage: "ask" };

export function endNow(ending: Ending): End {
  return { stage: "end", ending };
}

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
