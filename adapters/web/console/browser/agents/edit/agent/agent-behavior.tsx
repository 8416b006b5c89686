/** The sections of an agent's form about its replies, the hand-off to people, and its limits. */
import type { JSX } from "preact";
import type { HandoffCause } from "../../../../../../../src/index.ts";
import { Checkbox, Select, TextArea, TextField } from "../../../../../shared/browser/index.ts";
import { Section } from "../form/editor-form.tsx";
import { List } from "../form/fields.tsx";
import { bind, type BoundField } from "../form/form.ts";
import { e } from "../texts.ts";
import { numberCauses, wordCauses, type RuleDraft } from "./agent-draft.ts";
import { agentHint, type AgentSectionProps } from "./agent-section.ts";

export function Replies({ form: { values, field, set } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionReply")}>
      <Select
        {...field("mode", "reply/mode")}
        label={e("replyMode")}
        hint={e("replyModeHint")}
        value={values.mode}
        options={[
          { value: "generated", label: e("replyGenerated") },
          { value: "canned_strict", label: e("replyCanned") },
        ]}
        onChange={(mode) => set({ mode })}
      />
      <div class="editor-row">
        <TextField
          {...field("max_chars", "reply/max_chars")}
          label={e("maxChars")}
          inputMode="numeric"
          hint={agentHint("reply/max_chars")}
        />
        <TextField
          {...field("debounce_ms", "reply/debounce_ms")}
          label={e("debounce")}
          inputMode="numeric"
          hint={agentHint("reply/debounce_ms")}
        />
        <TextField
          {...field("signature", "reply/signature")}
          label={e("signature")}
          isOptional
          hint={e("signatureHint")}
        />
      </div>
      <TextArea
        {...field("fallback_text")}
        label={e("fallback")}
        rows={2}
        hint={agentHint("fallback_text")}
      />
    </Section>
  );
}

const causes: { readonly [cause in HandoffCause]: () => string } = {
  customer_request: () => e("causeRequest"),
  keyword: () => e("causeKeyword"),
  intent: () => e("causeIntent"),
  confidence_below: () => e("causeConfidence"),
  sentiment_below: () => e("causeSentiment"),
  max_turns: () => e("causeTurns"),
  failed_attempts: () => e("causeAttempts"),
  model_error: () => e("causeError"),
  model_timeout: () => e("causeTimeout"),
  action_failure: () => e("causeAction"),
  guardrail: () => e("causeGuardrail"),
  budget: () => e("causeBudget"),
  loop_suspected: () => e("causeLoop"),
};

const causeNames = Object.keys(causes) as readonly HandoffCause[];

const newRule: RuleDraft = { on: "keyword", value: "" };

export function Handoff({ form }: AgentSectionProps): JSX.Element {
  const { values, field, set, problems } = form;
  return (
    <Section title={e("sectionHandoff")} about={agentHint("handoff")}>
      <List
        items={values.rules}
        onChange={(rules) => set({ rules })}
        add={e("ruleAdd")}
        item={e("rule")}
        empty={newRule}
      >
        {(rule, change, index) => {
          const own = bind(rule, change, problems, `/handoff/rules/${index}`);
          return (
            <div class="editor-row">
              <Select
                {...own("on")}
                label={e("ruleOn")}
                value={rule.on}
                options={causeNames.map((cause) => ({ value: cause, label: causes[cause]() }))}
                onChange={(on) => change({ on })}
              />
              <RuleValue on={rule.on} {...own("value")} />
            </div>
          );
        }}
      </List>
      <TextArea
        {...field("message", "handoff/message")}
        label={e("handoffMessage")}
        rows={2}
        isOptional
        hint={e("handoffMessageHint")}
      />
      <div class="editor-row">
        <TextField
          {...field("queue_timeout_seconds", "handoff/queue_timeout_seconds")}
          label={e("queueTimeout")}
          inputMode="numeric"
          isOptional
          hint={e("queueTimeoutHint")}
        />
        <Select
          {...field("on_no_humans", "handoff/on_no_humans")}
          label={e("onNoHumans")}
          value={values.on_no_humans}
          options={[
            { value: "leave_message", label: e("leaveMessage") },
            { value: "stay_ai", label: e("stayAi") },
          ]}
          onChange={(on_no_humans) => set({ on_no_humans })}
        />
      </div>
      <Checkbox
        label={e("resume")}
        checked={values.resume_after_human}
        onChange={(resume_after_human) => set({ resume_after_human })}
      />
    </Section>
  );
}

interface RuleValueProps extends BoundField {
  readonly on: HandoffCause;
}

/** The words or the number of a rule, as its cause needs. */
function RuleValue({ on, ...field }: RuleValueProps): JSX.Element | null {
  if (wordCauses.has(on)) {
    return <TextArea {...field} rows={2} label={e("ruleWords")} hint={e("ruleWordsHint")} />;
  }
  if (!numberCauses.has(on)) return null;
  const isShare = on === "confidence_below" || on === "sentiment_below";
  return (
    <TextField {...field} label={e(isShare ? "ruleBelow" : "ruleCount")} inputMode="decimal" />
  );
}

const limitNames = {
  max_ai_turns: () => e("limitTurns"),
  max_replies_per_minute: () => e("limitReplies"),
  max_tokens_per_conversation: () => e("limitTokens"),
  max_steps_per_turn: () => e("limitSteps"),
  timeout_ms: () => e("limitTime"),
  max_triggers_per_minute: () => e("limitTriggers"),
} as const;

export function Limits({ form: { values, set, problems } }: AgentSectionProps): JSX.Element {
  const { limits } = values;
  const names = Object.keys(limitNames) as readonly (keyof typeof limitNames)[];
  const field = bind(
    limits,
    (change) => set({ limits: { ...limits, ...change } }),
    problems,
    "/limits",
  );
  return (
    <Section title={e("sectionLimits")}>
      <div class="editor-row">
        {names.map((name) => (
          <TextField
            key={name}
            {...field(name)}
            label={limitNames[name]()}
            inputMode="numeric"
            hint={agentHint(`limits/${name}`)}
          />
        ))}
      </div>
    </Section>
  );
}
