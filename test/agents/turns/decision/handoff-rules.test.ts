/** The rules of hand-offs, as functions over the facts of a turn. */
import { describe, expect, it, test } from "vitest";
import { english } from "../../../../adapters/language/index.ts";
import type { HandoffRule } from "../../../../src/agents/settings/handoff-rule-types.ts";
import {
  handsOffOn,
  limitHandoff,
  limitsFor,
  ruleHandoff,
  silentHandoff,
  wordsFor,
} from "../../../../src/agents/turns/decision/handoff-rules.ts";
import type { TurnFacts } from "../../../../src/agents/turns/turn-types.ts";
import { defaultAgent, type AgentDefinition } from "../../../../src/agents/types.ts";
import { frame } from "../../playbooks/sample-frame.ts";
import { definition, finderOf, idOf, slot } from "../../playbooks/support.ts";

const now = 1_000_000_000;

function agentWith(...rules: readonly HandoffRule[]): AgentDefinition {
  const handoff = { ...defaultAgent.handoff, rules: [...rules] };
  const limits = { ...defaultAgent.limits, max_ai_turns: 4, max_tokens_per_conversation: 900 };
  return { ...defaultAgent, name: "Ada", channels: ["sms"], handoff, limits };
}

const session = { frames: [], turns: 0, tokens: 0, failed_attempts: 0 };
const nobody = { name: null, phone: null, language: null, time_zone: "UTC", sentiment: null };

/** The facts of a turn in which nothing speaks for a hand-off, but for what is given. */
function factsWith(more: Partial<TurnFacts>): TurnFacts {
  return {
    agent: agentWith(),
    session,
    channel: "sms",
    language: english(),
    contact: nobody,
    history: { messages: [], firstSequence: null, unanswered: 0, guarded: 0 },
    contactText: "",
    writtenAt: now,
    lowestScore: null,
    suspectsOptOut: false,
    observations: [],
    playbooks: [],
    findPlaybook: () => undefined,
    request: null,
    isResumed: false,
    isAwaited: false,
    isPaused: false,
    now,
    ...more,
  };
}

describe("regardless of its rules, an agent hands off", () => {
  const again = { from: "contact", text: "I am out of office", at: now } as const;
  const messages = [again, again, again];
  const history = { messages, firstSequence: 1, unanswered: 3, guarded: 3 };
  const limits = { ...session, turns: 4, tokens: 900 };

  it("silently if the contact seems to be a machine or to opt out, whatever else is the case", () => {
    expect(
      silentHandoff(factsWith({ history, suspectsOptOut: true, session: limits })),
      "A machine is told nothing: it would answer.",
    ).toEqual({
      rule: "loop_suspected",
      reason: "The contact seems to be a machine.",
    });
    expect(
      silentHandoff(factsWith({ suspectsOptOut: true, session: limits })),
      "A contact who may want no messages gets none.",
    ).toEqual({
      rule: "guardrail",
      reason: "The contact may want no more messages.",
    });
  });

  it("when it has reached its limit of replies or tokens, and not before", () => {
    const after = (turns: number, tokens: number) =>
      limitHandoff(factsWith({ session: { ...session, turns, tokens } }));
    expect(after(3, 899), "Below its limits an agent goes on.").toBeUndefined();
    expect(after(4, 900), "The limit of replies comes first.").toEqual({
      rule: "max_turns",
      reason: "The agent has reached its limit of replies.",
    });
    expect(after(3, 900), "An agent stops at its limit of tokens.").toEqual({
      rule: "budget",
      reason: "The conversation has used up its token budget.",
    });
  });
});

describe("by its rules, an agent hands off", () => {
  const handoff = (rule: HandoffRule, more: Partial<TurnFacts>) =>
    ruleHandoff(factsWith({ agent: agentWith(rule), ...more }));

  it("when the contact asks for a person", () => {
    const rule = { on: "customer_request" } as const;
    expect(handoff(rule, { contactText: "Can I talk to a human?" })).toEqual({
      rule: "customer_request",
      reason: "The contact asked for a person.",
    });
    expect(handoff(rule, { contactText: "Can I talk?" })).toBeUndefined();
  });

  it("if the contact asks for a person, unless that is an option of the open question", () => {
    const role = slot("role", { enum: ["buyer", "Agent", "real person"] });
    const findPlaybook = finderOf(
      definition([{ id: "ask", type: "ask", slot: "role", retries: 2 }], [role]),
    );
    const asked = { ...frame, playbook_id: idOf(0) };
    const handsOff = (contactText: string, more: Partial<TurnFacts> = {}): boolean => {
      const agent = agentWith({ on: "customer_request" });
      const playing = { ...session, frames: [asked] };
      const facts = factsWith({ agent, session: playing, findPlaybook, contactText, ...more });
      return ruleHandoff(facts) !== undefined;
    };
    for (const option of ["agent", "Agent.", "AGENT!", "a real person", "Real person"]) {
      expect([option, handsOff(option, { session })]).toEqual([option, true]);
    }
    for (const option of ["agent", "Agent.", "AGENT!", "Real person"]) {
      expect([option, handsOff(option)]).toEqual([option, false]);
    }
    expect(handsOff("I want to talk to an agent"), "more than an option").toBe(true);
    expect(handsOff("human"), "no option").toBe(true);
    expect(handsOff("agent", { isPaused: true }), "no question is open").toBe(true);
    const before = { ...session, frames: [{ ...asked, asked: false }] };
    expect(handsOff("agent", { session: before }), "the question was not asked").toBe(true);
  });

  it("when the contact writes a keyword as whole words", () => {
    const rule: HandoffRule = { on: "keyword", value: ["court", "my Lawyer"] };
    expect(handoff(rule, { contactText: "Ask MY lawyer." })).toEqual({
      rule: "keyword",
      reason: 'The contact wrote "my Lawyer".',
    });
    expect(handoff(rule, { contactText: "Ask my lawyers in the courtyard." })).toBeUndefined();
    expect(handoff({ on: "keyword", value: "court" }, { contactText: "In court" })).toEqual({
      rule: "keyword",
      reason: 'The contact wrote "court".',
    });
  });

  it("when one message is very negative, or the contact's sentiment is below the limit", () => {
    const rule: HandoffRule = { on: "sentiment_below", value: -0.2 };
    const feels = (score: number): Partial<TurnFacts> => ({
      contact: { ...nobody, sentiment: { label: "negative", score } },
    });
    const below = {
      rule: "sentiment_below",
      reason: "The contact's sentiment is below the limit.",
    };
    expect(handoff(rule, { lowestScore: -0.6, ...feels(-0.9) })).toEqual({
      rule: "sentiment_below",
      reason: "The contact is very upset.",
    });
    expect(handoff(rule, { lowestScore: -0.5, ...feels(-0.3) })).toEqual(below);
    expect(handoff(rule, feels(-0.3))).toEqual(below);
    expect(handoff(rule, feels(-0.2)), "The limit itself is sufficient.").toBeUndefined();
    expect(handoff(rule, {}), "Nothing was scored.").toBeUndefined();
  });

  it("when it has replied as often as the rule allows", () => {
    const after = (turns: number, value: number) =>
      handoff({ on: "max_turns", value }, { session: { ...session, turns } });
    expect(after(2, 3)).toBeUndefined();
    expect(after(3, 3)).toEqual({ rule: "max_turns", reason: "The agent has replied 3 times." });
  });

  it("for the first rule that applies, and for no cause that shows only later", () => {
    const facts = { contactText: "Get me a human, not a court", session: { ...session, turns: 3 } };
    const rules: readonly HandoffRule[] = [
      { on: "guardrail" },
      { on: "intent", value: "court" },
      { on: "max_turns", value: 4 },
      { on: "keyword", value: "court" },
      { on: "max_turns", value: 3 },
    ];
    const handed = ruleHandoff(factsWith({ ...facts, agent: agentWith(...rules) }));
    expect(handed?.reason).toBe('The contact wrote "court".');
    const later = rules.slice(0, 3);
    expect(ruleHandoff(factsWith({ ...facts, agent: agentWith(...later) }))).toBeUndefined();
  });
});

test("a failure hands off if a rule asks for it, a spent budget always", () => {
  const agent = agentWith({ on: "failed_attempts", value: 2 }, { on: "guardrail" });
  expect(handsOffOn(agent, "guardrail")).toBe(true);
  expect(handsOffOn(agent, "model_error")).toBe(false);
  expect(handsOffOn(agent, "budget")).toBe(true);
});

test("the words and the limits of all rules for a cause count", () => {
  const agent = agentWith(
    { on: "intent", value: "refund" },
    { on: "keyword", value: "court" },
    { on: "intent", value: ["complaint", "lawyer"] },
    { on: "confidence_below", value: 0.5 },
    { on: "confidence_below", value: 0.3 },
    { on: "guardrail" },
  );
  expect(wordsFor(agent, "intent")).toEqual(["refund", "complaint", "lawyer"]);
  expect(limitsFor(agent, "confidence_below")).toEqual([0.5, 0.3]);
  expect(limitsFor(agent, "intent")).toEqual([]);
  expect(wordsFor(agent, "confidence_below")).toEqual([]);
  expect(wordsFor(agent, "guardrail")).toEqual([]);
});
