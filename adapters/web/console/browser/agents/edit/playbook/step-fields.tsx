/** The fields of one step of a playbook. */
import type { JSX } from "preact";
import type { AgentAction, Playbook } from "../../../../../../../src/index.ts";
import { TextArea, TextField } from "../../../../../shared/browser/index.ts";
import { riskName } from "../action-risk.ts";
import { Choice, code, List, StepChoice } from "../form/fields.tsx";
import { bind } from "../form/form.ts";
import type { Problems } from "../form/problems.ts";
import type { Pair } from "../form/values.ts";
import { e } from "../texts.ts";
import type { StepDraft } from "./playbook-draft.ts";

/** What the fields of a step may refer to, and the problems of the form. */
export interface StepContext {
  /** The ids of all steps, in order. */
  readonly ids: readonly string[];
  readonly slots: readonly string[];
  readonly actions: readonly AgentAction[];
  /** The playbooks that can be called. */
  readonly playbooks: readonly Playbook[];
  readonly problems: Problems;
}

interface StepFieldsProps {
  readonly step: StepDraft;
  readonly set: (change: Partial<StepDraft>) => void;
  readonly context: StepContext;
  /** The JSON pointer of the step. */
  readonly at: string;
}

export function StepFields(props: StepFieldsProps): JSX.Element {
  const { step, set, context, at } = props;
  const field = bind(step, set, context.problems, at);
  const next = (
    <StepChoice
      {...field("next")}
      label={e(step.type === "branch" ? "stepOtherwise" : "stepNext")}
      none={e("targetNext")}
      ids={context.ids}
    />
  );
  switch (step.type) {
    case "send":
    case "instruct":
      return (
        <>
          <TextArea
            {...field("text")}
            label={e(step.type === "send" ? "stepText" : "stepInstruction")}
            rows={3}
          />
          {next}
        </>
      );
    case "ask":
      return (
        <>
          <AskFields {...props} />
          {next}
        </>
      );
    case "set":
      return (
        <>
          <Pairs
            label={e("stepValues")}
            pairs={step.values}
            onChange={(values) => set({ values })}
            problem={context.problems.in(`${at}/values`)}
          />
          {next}
        </>
      );
    case "run":
      return (
        <>
          <RunFields {...props} />
          {next}
        </>
      );
    case "branch":
      return (
        <>
          <Cases {...props} />
          {next}
        </>
      );
    case "call":
      return (
        <>
          <Choice
            {...field("playbook_id")}
            label={e("stepPlaybook")}
            options={context.playbooks.map(({ id, name }) => ({ value: id, label: name }))}
          />
          {next}
        </>
      );
    case "handoff":
      return <TextArea {...field("reason")} label={e("stepReason")} rows={2} />;
    case "resolve":
      return <></>;
  }
}

function AskFields({ step, set, context, at }: StepFieldsProps): JSX.Element {
  const { problems, slots, ids } = context;
  const field = bind(step, set, problems, at);
  return (
    <div class="editor-row">
      <Choice
        {...field("slot")}
        label={e("stepSlot")}
        options={slots.map((name) => ({ value: name, label: name }))}
      />
      <TextField {...field("retries")} label={e("stepRetries")} inputMode="numeric" />
      <StepChoice {...field("on_fail")} label={e("stepFail")} none={e("targetEnd")} ids={ids} />
    </div>
  );
}

function RunFields({ step, set, context, at }: StepFieldsProps): JSX.Element {
  const { problems, actions, ids } = context;
  const field = bind(step, set, problems, at);
  const action = actions.find(({ name }) => name === step.action);
  return (
    <>
      <div class="editor-row">
        <Choice
          {...field("action")}
          label={e("stepAction")}
          options={actions.map(({ name, risk }) => ({
            value: name,
            label: `${name} · ${riskName(risk)}`,
          }))}
          onChange={(name) => set({ action: name, args: argsFor(step.args, actions, name) })}
        />
        <StepChoice {...field("on_error")} label={e("stepError")} none={e("targetEnd")} ids={ids} />
      </div>
      {action && <bdi class="field-hint">{action.description}</bdi>}
      <Pairs
        label={e("stepArgs")}
        pairs={step.args}
        onChange={(args) => set({ args })}
        problem={problems.in(`${at}/args`)}
      />
    </>
  );
}

/**
 * Returns the arguments for another action: those that were filled in, and an empty one for each
 * other input of the action.
 */
function argsFor(
  args: readonly Pair[],
  actions: readonly AgentAction[],
  name: string,
): readonly Pair[] {
  const schema = actions.find((each) => each.name === name)?.input_schema ?? {};
  const names = Object.keys(schema["properties"] ?? {});
  const filled = args.filter(({ value }) => value !== "");
  const missing = names.filter((each) => !filled.some((pair) => pair.name === each));
  return [...filled, ...missing.map((each) => ({ name: each, value: "" }))];
}

function Cases({ step, set, context, at }: StepFieldsProps): JSX.Element {
  const { problems, ids } = context;
  return (
    <List
      items={step.cases}
      onChange={(cases) => set({ cases })}
      add={e("stepCaseAdd")}
      item={e("stepCase")}
      empty={{ when: "", next: "" }}
    >
      {(each, change, index) => {
        const own = bind(each, change, problems, `${at}/cases/${index}`);
        return (
          <div class="editor-row">
            <TextField
              {...own("when")}
              {...code}
              label={e("stepCaseWhen")}
              placeholder="guests > 8"
            />
            <Choice
              {...own("next")}
              label={e("stepNext")}
              options={ids.map((id) => ({ value: id, label: id }))}
            />
          </div>
        );
      }}
    </List>
  );
}

interface PairsProps {
  readonly label: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
  readonly problem: string | undefined;
}

/** Names and their values. */
function Pairs({ label, pairs, onChange, problem }: PairsProps): JSX.Element {
  return (
    <fieldset class="choices" data-invalid={problem === undefined ? undefined : ""} tabIndex={-1}>
      <legend class="field-label">{label}</legend>
      <p class="field-hint">{e("pairValueHint")}</p>
      <List
        items={pairs}
        onChange={onChange}
        add={e("pairAdd")}
        item={e("pair")}
        empty={{ name: "", value: "" }}
        isInline
      >
        {(pair, change) => (
          <>
            <TextField
              {...code}
              label={e("pairName")}
              isLabelHidden
              placeholder={e("pairName")}
              autocomplete="off"
              value={pair.name}
              onChange={(name) => change({ name })}
            />
            <TextField
              {...code}
              label={e("pairValue")}
              isLabelHidden
              placeholder={e("pairValue")}
              autocomplete="off"
              value={pair.value}
              onChange={(value) => change({ value })}
            />
          </>
        )}
      </List>
      {problem !== undefined && <p class="field-problem">{problem}</p>}
    </fieldset>
  );
}
