/** An agent as the form has it, and as the API takes it. */
import type { Agent, HandoffCause, HandoffRule } from "../../../../../../../src/index.ts";
import { numberIn } from "../../../typed-number.ts";
import { linesIn, textIn, type Body } from "../form/values.ts";

/** A rule that says when the agent hands off. */
export interface RuleDraft {
  readonly on: HandoffCause;
  /** Words or a number, as the cause needs. */
  readonly value: string;
}

/** What a person typed. Numbers are texts, since not every text is a number. */
export interface AgentDraft {
  readonly name: string;
  readonly enabled: boolean;
  readonly channels: readonly Agent["channels"][number][];
  readonly senders: string;
  readonly role: string;
  readonly tone: string;
  readonly language: string;
  readonly instructions: string;
  readonly guidelines: readonly GuidelineDraft[];
  readonly knowledge: readonly KnowledgeDraft[];
  readonly playbook_ids: readonly string[];
  readonly actions: readonly string[];
  readonly mode: Agent["reply"]["mode"];
  readonly max_chars: string;
  readonly debounce_ms: string;
  readonly signature: string;
  readonly rules: readonly RuleDraft[];
  readonly message: string;
  readonly queue_timeout_seconds: string;
  readonly on_no_humans: Agent["handoff"]["on_no_humans"];
  readonly resume_after_human: boolean;
  readonly limits: LimitsDraft;
  readonly fallback_text: string;
}

export interface GuidelineDraft {
  readonly when: string;
  readonly what: string;
  readonly priority: string;
}

export interface KnowledgeDraft {
  readonly title: string;
  readonly text: string;
}

export type LimitsDraft = { readonly [name in keyof Agent["limits"]]: string };

/** The causes whose rules have words. */
export const wordCauses: ReadonlySet<HandoffCause> = new Set(["keyword", "intent"]);
/** The causes whose rules have a number. */
export const numberCauses: ReadonlySet<HandoffCause> = new Set([
  "confidence_below",
  "sentiment_below",
  "max_turns",
  "failed_attempts",
]);

/** The form of a new agent. `defaultOf` returns the default of the API for a field. */
export const newAgent = (defaultOf: (path: string) => string): AgentDraft => ({
  name: "",
  enabled: true,
  channels: ["sms"],
  senders: "",
  role: defaultOf("persona/role"),
  tone: "",
  language: "",
  instructions: "",
  guidelines: [],
  knowledge: [],
  playbook_ids: [],
  actions: [],
  mode: "generated",
  max_chars: defaultOf("reply/max_chars"),
  debounce_ms: defaultOf("reply/debounce_ms"),
  signature: "",
  rules: [{ on: "customer_request", value: "" }],
  message: defaultOf("handoff/message"),
  queue_timeout_seconds: "",
  on_no_humans: "leave_message",
  resume_after_human: true,
  limits: {
    max_ai_turns: defaultOf("limits/max_ai_turns"),
    max_steps_per_turn: defaultOf("limits/max_steps_per_turn"),
    max_tokens_per_conversation: defaultOf("limits/max_tokens_per_conversation"),
    timeout_ms: defaultOf("limits/timeout_ms"),
    max_replies_per_minute: defaultOf("limits/max_replies_per_minute"),
    max_triggers_per_minute: defaultOf("limits/max_triggers_per_minute"),
  },
  fallback_text: defaultOf("fallback_text"),
});

export function agentDraftOf(agent: Agent): AgentDraft {
  const { persona, reply, handoff, limits } = agent;
  return {
    name: agent.name,
    enabled: agent.enabled,
    channels: agent.channels,
    senders: agent.senders?.join("\n") ?? "",
    role: persona.role,
    tone: persona.tone ?? "",
    language: persona.language ?? "",
    instructions: agent.instructions,
    guidelines: agent.guidelines.map(({ when, then: what, priority }) => ({
      when,
      what,
      priority: String(priority),
    })),
    knowledge: agent.knowledge,
    playbook_ids: agent.playbook_ids,
    actions: agent.actions,
    mode: reply.mode,
    max_chars: String(reply.max_chars),
    debounce_ms: String(reply.debounce_ms),
    signature: reply.signature ?? "",
    rules: handoff.rules.map(({ on, value }) => ({ on, value: textOfRule(value) })),
    message: handoff.message ?? "",
    queue_timeout_seconds: String(handoff.queue_timeout_seconds ?? ""),
    on_no_humans: handoff.on_no_humans,
    resume_after_human: handoff.resume_after_human,
    limits: {
      max_ai_turns: String(limits.max_ai_turns),
      max_steps_per_turn: String(limits.max_steps_per_turn),
      max_tokens_per_conversation: String(limits.max_tokens_per_conversation),
      timeout_ms: String(limits.timeout_ms),
      max_replies_per_minute: String(limits.max_replies_per_minute),
      max_triggers_per_minute: String(limits.max_triggers_per_minute),
    },
    fallback_text: agent.fallback_text,
  };
}

const textOfRule = (value: HandoffRule["value"]): string =>
  Array.isArray(value) ? value.join("\n") : String(value ?? "");

/** The body of a request. Null empties a field. The server refuses it if the field is required. */
export function agentBody(draft: AgentDraft): Body {
  const number = (text: string): string | number | null => numberIn(text) ?? null;
  const text = (given: string): string | null => textIn(given) ?? null;
  const senders = linesIn(draft.senders);
  return {
    name: draft.name,
    enabled: draft.enabled,
    channels: draft.channels,
    senders: senders.length === 0 ? null : senders,
    persona: { role: text(draft.role), tone: text(draft.tone), language: text(draft.language) },
    instructions: draft.instructions,
    guidelines: draft.guidelines.map(guidelineBody),
    knowledge: draft.knowledge,
    playbook_ids: draft.playbook_ids,
    actions: draft.actions,
    reply: {
      mode: draft.mode,
      max_chars: number(draft.max_chars),
      debounce_ms: number(draft.debounce_ms),
      signature: text(draft.signature),
    },
    handoff: {
      rules: draft.rules.map(ruleBody),
      message: text(draft.message),
      queue_timeout_seconds: number(draft.queue_timeout_seconds),
      on_no_humans: draft.on_no_humans,
      resume_after_human: draft.resume_after_human,
    },
    limits: Object.fromEntries(
      Object.entries(draft.limits).map(([name, limit]) => [name, number(limit)]),
    ),
    fallback_text: draft.fallback_text,
  };
}

/** The draft calls `then` by another name, since an object with that field looks like a promise. */
const guidelineBody = ({ when, what, priority }: GuidelineDraft): Body => ({
  when,
  [outcomeField]: what,
  priority: numberIn(priority),
});

const outcomeField = "then" satisfies keyof Agent["guidelines"][number];

function ruleBody({ on, value }: RuleDraft): Body {
  if (wordCauses.has(on)) return { on, value: linesIn(value) };
  return numberCauses.has(on) ? { on, value: numberIn(value) } : { on };
}
