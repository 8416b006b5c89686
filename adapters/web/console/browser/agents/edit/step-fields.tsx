/** The fields of one step of a playbook. */
import type { JSX } from "preact";
import type { AgentAction, Playbook } from "../../../../../../src/index.ts";
import { Choice, Target } from "./choice.tsx";
import { Input, Lines, List } from "./parts.tsx";
import type { StepDraft } from "./playbook-draft.ts";
import type { Problems } from "./problems.ts";
import { e } from "./texts.ts";
import type { Pair } from "./values.ts";

/** What steps refer to. */
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
    <Target
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
      <Target
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
          options={actions.map(({ name, risk }) => ({ value: name, label: riskOf(name, risk) }))}
          onChange={(name) => set({ action: name, args: withInputs(step.args, actions, name) })}
          problem={problems.of(`${at}/action`)}
        />
        <Target
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

const riskOf = (name: string, risk: AgentAction["risk"]): string =>
  `${name} · ${{ read: e("riskRead"), write: e("riskWrite"), approval: e("riskApproval") }[risk]}`;

/** The inputs that the action takes, without those of another action that nobody filled in. */
function withInputs(
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
      {(each, change, place) => (
        <div class="editor-row">
          <Input
            of={each}
            name="when"
            set={change}
            label={e("stepCaseWhen")}
            placeholder="guests > 8"
            isCode
            problem={problems.of(`${at}/cases/${place}/when`)}
          />
          <Choice
            label={e("stepNext")}
            value={each.next}
            options={ids.map((id) => ({ value: id, label: id }))}
            onChange={(next) => change({ next })}
            problem={problems.of(`${at}/cases/${place}/next`)}
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
