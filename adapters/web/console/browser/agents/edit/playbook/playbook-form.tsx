import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { AgentAction, Playbook, PlaybookStep } from "../../../../../../../src/index.ts";
import { Checkbox, TextArea, TextField } from "../../../../../shared/browser/index.ts";
import { Card } from "../../../parts/layout.tsx";
import { StepGraph } from "../../graph/step-graph.tsx";
import { EditorForm, Section } from "../form/editor-form.tsx";
import { StepChoice } from "../form/fields.tsx";
import { useForm, type Form } from "../form/form.ts";
import { defaultOf, hintOf } from "../form/schema.ts";
import { e } from "../texts.ts";
import {
  newPlaybook,
  playbookBody,
  playbookDraftOf,
  stepBody,
  type PlaybookDraft,
} from "./playbook-draft.ts";
import { SlotSection } from "./slot-section.tsx";
import { StepList } from "./step-list.tsx";

interface PlaybookFormProps {
  /** The playbook to change. Absent for a new one. */
  readonly playbook: Playbook | undefined;
  readonly playbooks: readonly Playbook[];
  readonly actions: readonly AgentAction[];
}

/** Creates a playbook, or a new version of one. The graph beside the steps follows each change. */
export function PlaybookForm({ playbook, playbooks, actions }: PlaybookFormProps): JSX.Element {
  const saved = playbook === undefined ? newPlaybook : playbookDraftOf(playbook);
  const form = useForm({
    kind: "playbooks",
    edited: playbook,
    saved,
    bodyOf: (draft) => playbookBody(draft, playbook === undefined),
  });
  return (
    <EditorForm kind="playbooks" edited={playbook} form={form}>
      <div class="editor-columns">
        <General form={form} />
        <Trigger form={form} />
      </div>
      <SlotSection form={form} />
      <Steps
        form={form}
        actions={actions}
        playbooks={playbooks.filter(({ id }) => id !== playbook?.id)}
      />
    </EditorForm>
  );
}

interface SectionProps {
  readonly form: Form<PlaybookDraft>;
}

const hint = (path: string): ComponentChildren => hintOf("CreatePlaybook", path);

function General({ form: { values, field, set } }: SectionProps): JSX.Element {
  return (
    <Section title={e("sectionGeneral")}>
      <TextField {...field("name")} label={e("name")} />
      <TextArea
        {...field("description")}
        label={e("description")}
        rows={2}
        isOptional
        hint={hint("description")}
      />
      <Checkbox
        label={
          <>
            {e("enabled")} <span class="choice-note muted">{e("enabledHint")}</span>
          </>
        }
        checked={values.enabled}
        onChange={(enabled) => set({ enabled })}
      />
      <div class="editor-row">
        <StepChoice
          {...field("on_cancel")}
          label={e("onCancel")}
          none={e("onCancelEnd")}
          ids={values.steps.map(({ id }) => id)}
        />
        <TextField {...field("max_turns")} label={e("maxTurns")} inputMode="numeric" isOptional />
      </div>
    </Section>
  );
}

function Trigger({ form: { field } }: SectionProps): JSX.Element {
  return (
    <Section title={e("sectionTrigger")}>
      <TextArea
        {...field("keywords", "trigger/keywords")}
        label={e("keywords")}
        rows={2}
        isOptional
        hint={e("keywordsHint")}
      />
      <TextArea
        {...field("intents", "trigger/intents")}
        label={e("intents")}
        rows={2}
        isOptional
        hint={e("keywordsHint")}
      />
      <TextArea
        {...field("when", "trigger/when")}
        label={e("triggerWhen")}
        rows={2}
        isOptional
        hint={hint("trigger/when")}
      />
      <TextField
        {...field("priority", "trigger/priority")}
        label={e("priority")}
        inputMode="numeric"
        placeholder={defaultOf("CreatePlaybook", "trigger/priority")}
        hint={hint("trigger/priority")}
      />
    </Section>
  );
}

interface StepsProps extends SectionProps, Pick<PlaybookFormProps, "actions" | "playbooks"> {}

function Steps({ form, actions, playbooks }: StepsProps): JSX.Element {
  const { values, set, problems } = form;
  const faulty = problems.indexesIn("/steps");
  const [open, setOpen] = useState<number | undefined>(0);
  const [seen, setSeen] = useState(problems);
  // The first faulty step opens in the rendering that first shows the problems, so that the form
  // can put the focus into it.
  if (problems !== seen) {
    const [first] = faulty;
    setSeen(problems);
    if (first !== undefined) setOpen(first);
  }
  // A step that is not finished has all fields that the graph reads, which may be empty.
  const shown = values.steps.map((step) => stepBody(step) as unknown as PlaybookStep);
  const context = {
    ids: values.steps.map(({ id }) => id),
    slots: values.slots.map(({ name }) => name),
    actions,
    playbooks,
    problems,
  };
  return (
    <div class="editor-steps">
      <Section title={e("sectionSteps")}>
        {problems.of("/steps") !== undefined && (
          <p class="field-problem">{problems.of("/steps")}</p>
        )}
        <StepList
          steps={values.steps}
          shown={shown}
          context={context}
          open={open}
          onOpen={setOpen}
          onChange={(steps) => set({ steps })}
        />
      </Section>
      <div class="editor-graph">
        <Card title={e("graph")}>
          <StepGraph steps={shown} faulty={faulty} selected={open} onPick={setOpen} />
        </Card>
      </div>
    </div>
  );
}
