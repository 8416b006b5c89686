import { isVeryNegative } from "../../../contacts/index.ts";
import { containsPhrase, normalizedWords } from "../../../kernel/index.ts";
import type { Handoff } from "../../handling/hand-off.ts";
import { askedSlot } from "../../playbooks/play/frames.ts";
import type { HandoffCause, HandoffRule } from "../../settings/handoff-rule-types.ts";
import type { AgentDefinition } from "../../types.ts";
import type { TurnFacts } from "../turn-types.ts";
import { isLikelyLoop } from "./loop-guard.ts";

/**
 * Returns the hand-off after which the contact gets no message: a machine would answer it, and who
 * has opted out must not get it. It is checked first.
 */
export function silentHandoff(facts: TurnFacts): Handoff | undefined {
  if (isLikelyLoop(facts)) {
    return { rule: "loop_suspected", reason: "The contact seems to be a machine." };
  }
  return facts.suspectsOptOut
    ? { rule: "guardrail", reason: "The contact may want no more messages." }
    : undefined;
}

/** Returns the hand-off for a limit of the agent. It is checked before the agent's rules. */
export function limitHandoff({ agent: { limits }, session }: TurnFacts): Handoff | undefined {
  if (session.turns >= limits.max_ai_turns) {
    return { rule: "max_turns", reason: "The agent has reached its limit of replies." };
  }
  return session.tokens >= limits.max_tokens_per_conversation
    ? { rule: "budget", reason: "The conversation has used up its token budget." }
    : undefined;
}

export function ruleHandoff(facts: TurnFacts): Handoff | undefined {
  for (const rule of facts.agent.handoff.rules) {
    const reason = reasonOf(rule, facts);
    if (reason !== undefined) return { rule: rule.on, reason };
  }
  return undefined;
}

function reasonOf({ on, value }: HandoffRule, facts: TurnFacts): string | undefined {
  const { contactText, lowestScore, contact, session, language } = facts;
  switch (on) {
    case "customer_request":
      return language.asksForPerson(contactText) && !isOption(facts)
        ? "The contact asked for a person."
        : undefined;
    case "keyword": {
      const word = listOf(value).find((each) =>
        containsPhrase(normalizedWords(contactText), normalizedWords(each)),
      );
      return word === undefined ? undefined : `The contact wrote "${word}".`;
    }
    case "sentiment_below":
      if (lowestScore !== null && isVeryNegative(lowestScore)) return "The contact is very upset.";
      return contact.sentiment !== null && contact.sentiment.score < value
        ? "The contact's sentiment is below the limit."
        : undefined;
    case "max_turns":
      return session.turns >= value ? `The agent has replied ${session.turns} times.` : undefined;
    default:
      return undefined;
  }
}

/** Whether the contact answers a playbook's question with one of its options, such as "agent". */
function isOption({ contactText, session, findPlaybook, isPaused }: TurnFacts): boolean {
  const options = isPaused ? [] : (askedSlot(session.frames, findPlaybook)?.enum ?? []);
  const words = normalizedWords(contactText);
  return options.some((option) => normalizedWords(option) === words);
}

/**
 * Whether a failure hands the conversation off: if a rule asks for it, or if the budget is spent.
 */
export function handsOffOn(agent: AgentDefinition, cause: HandoffCause): boolean {
  return cause === "budget" || agent.handoff.rules.some(({ on }) => on === cause);
}

/** Returns the numbers of an agent's rules for a cause. */
export function limitsFor(agent: AgentDefinition, cause: HandoffCause): readonly number[] {
  return valuesFor(agent, cause).filter((value) => typeof value === "number");
}

/** Returns the words of an agent's rules for a cause. */
export function wordsFor(agent: AgentDefinition, cause: HandoffCause): readonly string[] {
  return valuesFor(agent, cause).flatMap(listOf);
}

/** Returns the values of an agent's rules for a cause. An agent can have several such rules. */
function valuesFor(
  { handoff: { rules } }: AgentDefinition,
  cause: HandoffCause,
): readonly HandoffRule["value"][] {
  return rules.flatMap(({ on, value }) => (on === cause ? [value] : []));
}

function listOf(value: HandoffRule["value"]): readonly string[] {
  return typeof value === "object" ? value : typeof value === "string" ? [value] : [];
}
