import type { AgentDefinition, HandoffCause, HandoffRule } from "./types.ts";
import { isVeryNegative } from "../contacts/index.ts";
import type { HandOff } from "./ending.ts";
import type { TurnFacts } from "./facts.ts";
import { suspectsLoop } from "./loop-guard.ts";
import { containsPhrase, normalizedWords } from "../kernel/index.ts";

export function ruleFor(
  { handoff: { rules } }: AgentDefinition,
  cause: HandoffCause,
): HandoffRule | undefined {
  return rules.find(({ on }) => on === cause);
}

/** Whether something that went wrong ends the agent's part: a rule asks for it, and a spent budget needs none. */
export function endsAt(agent: AgentDefinition, cause: HandoffCause): boolean {
  return cause === "budget" || ruleFor(agent, cause) !== undefined;
}

/** What must end an agent's part whatever its rules say; these come first, and nothing is sent that could keep a machine talking. */
export function mustHandOff(facts: TurnFacts): HandOff | undefined {
  const { agent, session, suspectsOptOut } = facts;
  if (suspectsLoop(facts)) return silent("loop_suspected", "The other side seems to be a machine.");
  if (suspectsOptOut) return silent("guardrail", "The contact may want no more messages.");
  if (session.turns >= agent.limits.max_ai_turns) {
    return aloud("max_turns", "The agent has replied as often as it may.");
  }
  if (session.tokens >= agent.limits.max_tokens_per_conversation) {
    return aloud("budget", "The conversation's budget is spent.");
  }
  return undefined;
}

/** What the agent's rules say before anything else is tried, in their order. */
export function handOffAsRuled(facts: TurnFacts): HandOff | undefined {
  for (const rule of facts.agent.handoff.rules) {
    const reason = reasonOf(rule, facts);
    if (reason !== undefined) return aloud(rule.on, reason);
  }
  return undefined;
}

function reasonOf(
  { on, value }: HandoffRule,
  { said, lowest, contact, session, language }: TurnFacts,
): string | undefined {
  switch (on) {
    case "customer_request":
      return language.asksForPerson(said) ? "The contact asked for a person." : undefined;
    case "keyword": {
      const word = listOf(value).find((each) =>
        containsPhrase(normalizedWords(said), normalizedWords(each)),
      );
      return word === undefined ? undefined : `The contact wrote "${word}".`;
    }
    case "sentiment_below":
      if (lowest !== null && isVeryNegative(lowest)) return "The contact is very upset.";
      return contact.sentiment !== null &&
        typeof value === "number" &&
        contact.sentiment.score < value
        ? "The contact's mood is low."
        : undefined;
    case "max_turns":
      return typeof value === "number" && session.turns >= value
        ? `The agent has replied ${session.turns} times.`
        : undefined;
    default:
      return undefined;
  }
}

export function aloud(
  rule: HandoffCause | null,
  reason: string,
  summary: string | null = null,
): HandOff {
  return { rule, reason, summary, isSilent: false };
}

function silent(rule: HandoffCause, reason: string): HandOff {
  return { rule, reason, summary: null, isSilent: true };
}

export function listOf(value: HandoffRule["value"]): readonly string[] {
  return typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
}
