/** The sections of an agent's form about its replies, the hand-off to people, and its limits. */
import type { JSX } from "preact";
import type { HandoffCause } from "../../../../../../../src/index.ts";
import { Checkbox, Select } from "../../../../../shared/browser/index.ts";
import { Section } from "../form/editor-form.tsx";
import { Input, Lines, List } from "../form/fields.tsx";
import { e } from "../texts.ts";
import { numberCauses, type RuleDraft, wordCauses } from "./agent-draft.ts";
import { agentHint, type AgentSectionProps } from "./agent-section.ts";

export function Replies({ form: { values, set, problems } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionReply")}>
      <Select
        label={e("replyMode")}
        hint={e("replyModeHint")}
        problem={problems.of("/reply/mode")}
        value={values.mode}
        options={[
          { value: "generated", label: e("replyGenerated") },
          { value: "canned_strict", label: e("replyCanned") },
        ]}
        onChange={({ currentTarget }) =>
          set({ mode: currentTarget.value === "canned_strict" ? "canned_strict" : "generated" })
        }
      />
      <div class="editor-row">
        <Input
          of={values}
          name="max_chars"
          set={set}
          label={e("maxChars")}
          inputMode="numeric"
          hint={agentHint("reply/max_chars")}
          problem={problems.of("/reply/max_chars")}
        />
        <Input
          of={values}
          name="debounce_ms"
          set={set}
          label={e("debounce")}
          inputMode="numeric"
          hint={agentHint("reply/debounce_ms")}
          problem={problems.of("/reply/debounce_ms")}
        />
        <Input
          of={values}
          name="signature"
          set={set}
          label={e("signature")}
          isOptional
          hint={e("signatureHint")}
          problem={problems.of("/reply/signature")}
        />
      </div>
      <Lines
        of={values}
        name="fallback_text"
        set={set}
        label={e("fallback")}
        rows={2}
        hint={agentHint("fallback_text")}
        problem={problems.of("/fallback_text")}
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

export function Handoff({ form: { values, set, problems } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionHandoff")} about={agentHint("handoff")}>
      <List
        items={values.rules}
        onChange={(rules) => set({ rules })}
        add={e("ruleAdd")}
        item={e("rule")}
        empty={newRule}
      >
        {(rule, change, index) => (
          <div class="editor-row">
            <Select
              label={e("ruleOn")}
              value={rule.on}
              problem={problems.of(`/handoff/rules/${index}/on`)}
              options={causeNames.map((cause) => ({ value: cause, label: causes[cause]() }))}
              onChange={({ currentTarget }) => {
                const on = causeNames.find((cause) => cause === currentTarget.value);
                if (on !== undefined) change({ on });
              }}
            />
            <RuleValue
              rule={rule}
              set={change}
              problem={problems.in(`/handoff/rules/${index}/value`)}
            />
          </div>
        )}
      </List>
      <Lines
        of={values}
        name="message"
        set={set}
        label={e("handoffMessage")}
        rows={2}
        isOptional
        hint={e("handoffMessageHint")}
        problem={problems.of("/handoff/message")}
      />
      <div class="editor-row">
        <Input
          of={values}
          name="queue_timeout_seconds"
          set={set}
          label={e("queueTimeout")}
          inputMode="numeric"
          isOptional
          hint={e("queueTimeoutHint")}
          problem={problems.of("/handoff/queue_timeout_seconds")}
        />
        <Select
          label={e("onNoHumans")}
          value={values.on_no_humans}
          problem={problems.of("/handoff/on_no_humans")}
          options={[
            { value: "leave_message", label: e("leaveMessage") },
            { value: "stay_ai", label: e("stayAi") },
          ]}
          onChange={({ currentTarget }) =>
            set({ on_no_humans: currentTarget.value === "stay_ai" ? "stay_ai" : "leave_message" })
          }
        />
      </div>
      <Checkbox
        label={e("resume")}
        checked={values.resume_after_human}
        onChange={({ currentTarget }) => set({ resume_after_human: currentTarget.checked })}
      />
    </Section>
  );
}

interface RuleValueProps {
  readonly rule: RuleDraft;
  readonly set: (change: Partial<RuleDraft>) => void;
  readonly problem: string | undefined;
}

function RuleValue({ rule, set, problem }: RuleValueProps): JSX.Element | null {
  const field = { of: rule, name: "value", set, problem } as const;
  if (wordCauses.has(rule.on)) {
    return <Lines {...field} rows={2} label={e("ruleWords")} hint={e("ruleWordsHint")} />;
  }
  if (!numberCauses.has(rule.on)) return null;
  const isShare = rule.on === "confidence_below" || rule.on === "sentiment_below";
  return <Input {...field} label={e(isShare ? "ruleBelow" : "ruleCount")} inputMode="decimal" />;
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
  const names = Object.keys(limitNames) as readonly (keyof typeof limitNames)[];
  return (
    <Section title={e("sectionLimits")}>
      <div class="editor-row">
        {names.map((name) => (
          <Input
            key={name}
            of={values.limits}
            name={name}
            set={(change) => set({ limits: { ...values.limits, ...change } })}
            label={limitNames[name]()}
            inputMode="numeric"
            hint={agentHint(`limits/${name}`)}
            problem={problems.of(`/limits/${name}`)}
          />
        ))}
      </div>
    </Section>
  );
}
