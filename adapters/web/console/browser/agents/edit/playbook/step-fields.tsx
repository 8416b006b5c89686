/** The fields of one step of a playbook. */
import type { JSX } from "preact";
import type { AgentAction, Playbook } from "../../../../../../../src/index.ts";
import { riskName } from "../action-risk.ts";
import { Choice, Input, Lines, List, StepChoice } from "../form/fields.tsx";
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
  const next = (
    <StepChoice
      label={e(step.type === "branch" ? "stepOtherwise" : "stepNext")}
      none={e("targetNext")}
      value={step.next}
      onChange={(id) => set({ next: id })}
      ids={context.ids}
      problem={context.problems.of(`${at}/next`)}
    />
  );
  switch (step.type) {
    case "send":
    case "instruct":
      return (
        <>
          <Lines
            of={step}
            name="text"
            set={set}
            label={e(step.type === "send" ? "stepText" : "stepInstruction")}
            rows={3}
            problem={context.problems.of(`${at}/text`)}
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
            label={e("stepPlaybook")}
            value={step.playbook_id}
            options={context.playbooks.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(playbook_id) => set({ playbook_id })}
            problem={context.problems.of(`${at}/playbook_id`)}
          />
          {next}
        </>
      );
    case "handoff":
      return (
        <Lines
          of={step}
          name="reason"
          set={set}
          label={e("stepReason")}
          rows={2}
          problem={context.problems.of(`${at}/reason`)}
        />
      );
    case "resolve":
      return <></>;
  }
}

function AskFields({ step, set, context, at }: StepFieldsProps): JSX.Element {
  const { problems, slots, ids } = context;
  return (
    <div class="editor-row">
      <Choice
        label={e("stepSlot")}
        value={step.slot}
        options={slots.map((name) => ({ value: name, label: name }))}
        onChange={(slot) => set({ slot })}
        problem={problems.of(`${at}/slot`)}
      />
      <Input
        of={step}
        name="retries"
        set={set}
        label={e("stepRetries")}
        inputMode="numeric"
        problem={problems.of(`${at}/retries`)}
      />
      <StepChoice
        label={e("stepFail")}
        none={e("targetEnd")}
        value={step.on_fail}
        onChange={(on_fail) => set({ on_fail })}
        ids={ids}
        problem={problems.of(`${at}/on_fail`)}
      />
    </div>
  );
}

function RunFields({ step, set, context, at }: StepFieldsProps): JSX.Element {
  const { problems, actions, ids } = context;
  const action = actions.find(({ name }) => name === step.action);
  return (
    <>
      <div class="editor-row">
        <Choice
          label={e("stepAction")}
          value={step.action}
          options={actions.map(({ name, risk }) => ({
            value: name,
            label: `${name} · ${riskName(risk)}`,
          }))}
          onChange={(name) => set({ action: name, args: argsFor(step.args, actions, name) })}
          problem={problems.of(`${at}/action`)}
        />
        <StepChoice
          label={e("stepError")}
          none={e("targetEnd")}
          value={step.on_error}
          onChange={(on_error) => set({ on_error })}
          ids={ids}
          problem={problems.of(`${at}/on_error`)}
        />
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
      {(each, change, index) => (
        <div class="editor-row">
          <Input
            of={each}
            name="when"
            set={change}
            label={e("stepCaseWhen")}
            placeholder="guests > 8"
            isCode
            problem={problems.of(`${at}/cases/${index}/when`)}
          />
          <Choice
            label={e("stepNext")}
            value={each.next}
            options={ids.map((id) => ({ value: id, label: id }))}
            onChange={(next) => change({ next })}
            problem={problems.of(`${at}/cases/${index}/next`)}
          />
        </div>
      )}
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
            <Input
              of={pair}
              name="name"
              set={change}
              label={e("pairName")}
              isLabelHidden
              placeholder={e("pairName")}
              isCode
              problem={undefined}
            />
            <Input
              of={pair}
              name="value"
              set={change}
              label={e("pairValue")}
              isLabelHidden
              placeholder={e("pairValue")}
              isCode
              problem={undefined}
            />
          </>
        )}
      </List>
      {problem !== undefined && <p class="field-problem">{problem}</p>}
    </fieldset>
  );
}
