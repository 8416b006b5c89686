import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Agent, AgentAction, Playbook } from "../../../../../../../src/index.ts";
import {
  Badge,
  channelName,
  channels,
  Checkbox,
  TextArea,
  TextField,
  type Tone,
} from "../../../../../shared/browser/index.ts";
import { t } from "../../../texts.ts";
import { riskName } from "../action-risk.ts";
import { EditorForm, Section } from "../form/editor-form.tsx";
import { Choices, List } from "../form/fields.tsx";
import { bind, useForm } from "../form/form.ts";
import { e } from "../texts.ts";
import { Handoff, Limits, Replies } from "./agent-behavior.tsx";
import { agentBody, agentDraftOf, newAgent } from "./agent-draft.ts";
import { agentDefault, agentHint, type AgentSectionProps } from "./agent-section.ts";

interface AgentFormProps {
  /** The agent to change. Absent for a new one. */
  readonly agent: Agent | undefined;
  readonly playbooks: readonly Playbook[];
  readonly actions: readonly AgentAction[];
}

/** Creates an agent, or a new version of one. */
export function AgentForm({ agent, playbooks, actions }: AgentFormProps): JSX.Element {
  const [saved] = useState(() =>
    agent === undefined ? newAgent(agentDefault) : agentDraftOf(agent),
  );
  const form = useForm({ kind: "agents", edited: agent, saved, bodyOf: agentBody });
  return (
    <EditorForm kind="agents" edited={agent} form={form}>
      <General form={form} />
      <Persona form={form} />
      <Knowledge form={form} />
      <Tools form={form} playbooks={playbooks} actions={actions} />
      <Replies form={form} />
      <Handoff form={form} />
      <Limits form={form} />
    </EditorForm>
  );
}

function General({ form: { values, field, set, problems } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionGeneral")}>
      <TextField {...field("name")} label={e("name")} />
      <Checkbox
        label={e("enabled")}
        checked={values.enabled}
        onChange={(enabled) => set({ enabled })}
      />
      <Choices
        label={e("channels")}
        isInline
        options={channels.map((value) => ({ value, label: channelName(value) }))}
        chosen={values.channels}
        onChange={(chosen) =>
          set({ channels: channels.filter((channel) => chosen.includes(channel)) })
        }
        problem={problems.in("/channels")}
      />
      <TextArea
        {...field("senders")}
        label={e("senders")}
        rows={2}
        hint={e("sendersHint")}
        isOptional
      />
    </Section>
  );
}

function Persona({ form: { values, field, set, problems } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionPersona")}>
      <div class="editor-row">
        <TextField {...field("role", "persona/role")} label={e("role")} />
        <TextField {...field("tone", "persona/tone")} label={e("tone")} isOptional />
        <TextField {...field("language", "persona/language")} label={e("language")} isOptional />
      </div>
      <TextArea
        {...field("instructions")}
        label={e("instructions")}
        rows={6}
        hint={agentHint("instructions")}
        isOptional
      />
      <h3>{e("guidelines")}</h3>
      <List
        items={values.guidelines}
        onChange={(guidelines) => set({ guidelines })}
        add={e("guidelineAdd")}
        item={e("guideline")}
        empty={{ when: "", what: "", priority: "" }}
      >
        {(guideline, change, index) => {
          const own = bind(guideline, change, problems, `/guidelines/${index}`);
          return (
            <div class="editor-row">
              <TextField {...own("when")} label={e("guidelineWhen")} />
              <TextField {...own("what", "then")} label={e("guidelineThen")} />
              <TextField
                {...own("priority")}
                label={e("priority")}
                inputMode="numeric"
                placeholder="0"
              />
            </div>
          );
        }}
      </List>
    </Section>
  );
}

function Knowledge({ form: { values, set, problems } }: AgentSectionProps): JSX.Element {
  return (
    <Section title={e("sectionKnowledge")} about={agentHint("knowledge")}>
      <List
        items={values.knowledge}
        onChange={(knowledge) => set({ knowledge })}
        add={e("knowledgeAdd")}
        item={e("knowledge")}
        empty={{ title: "", text: "" }}
      >
        {(piece, change, index) => {
          const own = bind(piece, change, problems, `/knowledge/${index}`);
          return (
            <>
              <TextField {...own("title")} label={e("knowledgeTitle")} />
              <TextArea {...own("text")} label={e("knowledgeText")} rows={2} />
            </>
          );
        }}
      </List>
    </Section>
  );
}

interface ToolsProps extends AgentSectionProps, Pick<AgentFormProps, "playbooks" | "actions"> {}

function Tools({ form, playbooks, actions }: ToolsProps): JSX.Element {
  const { values, set, problems } = form;
  const named = playbooks.map(({ id, name, description }) => {
    return { value: id, label: <bdi>{name}</bdi>, note: <bdi>{description}</bdi> };
  });
  // A playbook that was deleted, or an action that is gone, can still be deselected.
  const gone = (chosen: readonly string[], known: readonly string[]) =>
    chosen
      .filter((value) => !known.includes(value))
      .map((value) => ({ value, label: <code>{value}</code> }));
  const callable = actions.map(({ name, description, risk }) => ({
    value: name,
    label: (
      <>
        <code class="strong">{name}</code> <Risk of={risk} />
      </>
    ),
    note: <bdi>{description}</bdi>,
  }));
  const known = actions.map(({ name }) => name);
  return (
    <Section title={e("sectionTools")}>
      <Choices
        label={t("playbooks")}
        hint={agentHint("playbook_ids")}
        options={[
          ...named,
          ...gone(
            values.playbook_ids,
            playbooks.map(({ id }) => id),
          ),
        ]}
        chosen={values.playbook_ids}
        onChange={(playbook_ids) => set({ playbook_ids })}
        problem={problems.in("/playbook_ids")}
        none={e("playbooksHave")}
      />
      <Choices
        label={t("agentActions")}
        hint={agentHint("actions")}
        options={[...callable, ...gone(values.actions, known)]}
        chosen={values.actions}
        onChange={(chosen) => set({ actions: chosen })}
        problem={problems.in("/actions")}
        none={e("actionsHave")}
      />
    </Section>
  );
}

const riskTones = { read: "neutral", write: "accent", approval: "warn" } as const satisfies {
  readonly [risk in AgentAction["risk"]]: Tone;
};

const Risk = ({ of }: { readonly of: AgentAction["risk"] }): JSX.Element => (
  <Badge tone={riskTones[of]}>{riskName(of)}</Badge>
);
