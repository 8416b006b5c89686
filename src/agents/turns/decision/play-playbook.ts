/** How a turn plays a playbook, and what follows when the playbook stops or ends. */
import type { TurnMoves } from "../../moves.ts";
import type { Frame } from "../../playbooks/play/frames.ts";
import type { PlayEnd } from "../../playbooks/play/play-types.ts";
import { play, type Played } from "../../playbooks/play/play.ts";
import type { TurnFacts } from "../turn-types.ts";
import { answerAside } from "./ask-model.ts";
import { mayFillSlot } from "./guardrails.ts";
import { handsOffOn } from "./handoff-rules.ts";
import { replyOf } from "./reply-text.ts";
import {
  answerContext,
  askModelNext,
  endWith,
  endWithFallback,
  endWithHandoff,
  type Ending,
  type Play,
  type Stage,
} from "./stages.ts";

/** Plays until the playbook asks, waits or ends. */
export function* playPlaybook(
  facts: TurnFacts,
  { frames, contactText }: Pick<Play, "frames" | "contactText">,
): TurnMoves<Stage> {
  const { agent } = facts;
  const played = yield* play(frames, contactText, {
    ...answerContext(facts),
    findPlaybook: facts.findPlaybook,
    maxSteps: agent.limits.max_steps_per_turn,
    stopsOn: (failure) => handsOffOn(agent, failure),
    mayFillSlot: (words) => mayFillSlot(facts, words),
  });
  return yield* afterPlay(facts, frames, played);
}

/** Decides what follows. `before` has the frames from before the playbook was played. */
function* afterPlay(facts: TurnFacts, before: readonly Frame[], played: Played): TurnMoves<Stage> {
  const { agent, channel } = facts;
  const { end, texts, frames } = played;
  const text = replyOf(agent, channel, texts);
  switch (end.type) {
    case "asks": {
      const aside = end.understood ? undefined : yield* answerAside(facts, before, texts.at(-1));
      const question = replyOf(agent, channel, texts.slice(0, -1), texts.at(-1));
      return aside ?? { ...endWith(question), frames, isFailedAttempt: !end.understood };
    }
    case "waits":
      return { ...endWith(text), frames, playbookWaits: true };
    case "over":
    case "canceled": {
      const isAnswered = text !== null || facts.request !== null;
      return isAnswered ? endWith(text) : askModelNext;
    }
    case "handoff": {
      const { reason, summary = slotSummary(end.slots) } = end;
      const ending = endWithHandoff(facts, { reason, summary });
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
    return endWithHandoff(facts, { rule: cause, reason }, texts);
  }
  const isFailed = facts.request !== null;
  return { ...endWithFallback(facts, texts), frames: [], result: { error: reason }, isFailed };
}

/** Returns slot values as text, for the people who take over. Undefined if no slot has one. */
function slotSummary(slots: Frame["slots"]): string | undefined {
  const filled = Object.entries(slots).filter(([, value]) => value !== null);
  const texts = filled.map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return texts.length === 0 ? undefined : texts.join(", ");
}
