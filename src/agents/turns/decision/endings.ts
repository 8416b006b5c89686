/** The ways in which a turn can end. */
import type { Json } from "../../../ports/index.ts";
import type { HandoffCause } from "../../settings/handoff-rule-types.ts";
import type { Ending, Handoff, TurnFacts } from "../turn-types.ts";
import { handoffFor, handsOffOn, limitsFor } from "./handoff-rules.ts";
import { replyOf } from "./reply-text.ts";

/** Sends a text, or nothing. No playbook is in progress then. */
export function endWith(text: string | null): Ending {
  return {
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

/** Hands off to people. `texts` are what the playbook has said before. */
export function endWithHandoff(
  { agent, channel }: TurnFacts,
  handoff: Handoff,
  texts: readonly string[] = [],
): Ending {
  const { message = "" } = agent.handoff;
  const text = handoff.isSilent ? null : replyOf(agent, channel, texts, message);
  return { ...endWith(text), handoff };
}

/** Sends the fallback text. `texts` are what the playbook has said before. */
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
    ? endWithHandoff(facts, handoffFor("failed_attempts", "The agent found no answer."))
    : endWithFallback(facts);
}

/** Hands off if a rule does so for the cause. Otherwise the turn has found no answer. */
export function endWithProblem(
  facts: TurnFacts,
  cause: HandoffCause | null,
  reason: string,
): Ending {
  return cause !== null && handsOffOn(facts.agent, cause)
    ? endWithHandoff(facts, handoffFor(cause, reason))
    : { ...endUnanswered(facts), result: { error: reason } };
}
