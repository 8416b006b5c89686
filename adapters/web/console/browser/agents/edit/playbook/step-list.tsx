/** The steps of a playbook as a list. One of them is open. */
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PlaybookStep } from "../../../../../../../src/index.ts";
import {
  Icon,
  Menu,
  Select,
  TextField,
  type MenuItem,
} from "../../../../../shared/browser/index.ts";
import { stepIcons, stepName, summaryOf } from "../../graph/step-graph.tsx";
import { code } from "../form/fields.tsx";
import { e } from "../texts.ts";
import { newStep, renamed, type StepDraft, type StepType } from "./playbook-draft.ts";
import { StepFields, type StepContext } from "./step-fields.tsx";

const types = Object.keys(stepIcons) as readonly StepType[];

interface StepListProps {
  readonly steps: readonly StepDraft[];
  /** The steps as the graph shows them. */
  readonly shown: readonly PlaybookStep[];
  readonly context: StepContext;
  readonly open: number | undefined;
  readonly onOpen: (index: number | undefined) => void;
  readonly onChange: (steps: readonly StepDraft[]) => void;
}

export function StepList(props: StepListProps): JSX.Element {
  const { steps, shown, context, open, onOpen, onChange } = props;
  /** The form begins at its top, and scrolls only to a step that is opened later. */
  const follows = useRef(false);
  useLayoutEffect(() => void (follows.current = true), []);
  const add = (type: StepType): void => {
    const at = open === undefined ? steps.length : open + 1;
    onChange(steps.toSpliced(at, 0, newStep(type, steps)));
    onOpen(at);
  };
  const move = (index: number, by: number): void => {
    const step = steps[index];
    if (step === undefined) return;
    onChange(steps.toSpliced(index, 1).toSpliced(index + by, 0, step));
    onOpen(index + by);
  };
  const itemsOf = (index: number): readonly MenuItem[] => [
    ...(index > 0 ? [{ label: e("moveUp"), onPick: () => move(index, -1) }] : []),
    ...(index < steps.length - 1 ? [{ label: e("moveDown"), onPick: () => move(index, 1) }] : []),
    {
      label: e("duplicate"),
      icon: "copy",
      onPick: () => {
        const step = steps[index];
        if (step === undefined) return;
        const { id } = newStep(step.type, steps);
        onChange(steps.toSpliced(index + 1, 0, { ...step, id }));
        onOpen(index + 1);
      },
    },
    {
      label: e("removeStep"),
      icon: "trash",
      isDanger: true,
      onPick: () => {
        onChange(steps.toSpliced(index, 1));
        onOpen(undefined);
      },
    },
  ];
  return (
    <div class="step-list">
      <ol>
        {steps.map((step, index) => (
          <StepCard
            key={index}
            step={step}
            summary={shown[index] === undefined ? "" : summaryOf(shown[index])}
            index={index}
            isOpen={open === index}
            follows={follows}
            items={itemsOf(index)}
            context={context}
            onToggle={() => onOpen(open === index ? undefined : index)}
            onSet={(change) => onChange(steps.with(index, { ...step, ...change }))}
            onRename={(id) => onChange(renamed(steps.with(index, { ...step, id }), step.id, id))}
          />
        ))}
      </ol>
      <Menu
        label={e("stepAdd")}
        icon="plus"
        kind="secondary"
        items={types.map((type) => ({
          label: stepName(type),
          icon: stepIcons[type],
          onPick: () => add(type),
        }))}
      >
        {e("stepAdd")}
      </Menu>
    </div>
  );
}

interface StepCardProps {
  readonly step: StepDraft;
  readonly summary: string;
  readonly index: number;
  readonly isOpen: boolean;
  /** Whether the page scrolls to the step when it opens. */
  readonly follows: RefObject<boolean>;
  readonly items: readonly MenuItem[];
  readonly context: StepContext;
  readonly onToggle: () => void;
  readonly onSet: (change: Partial<StepDraft>) => void;
  readonly onRename: (id: string) => void;
}

function StepCard(props: StepCardProps): JSX.Element {
  const { step, summary, index, isOpen, follows, items, context } = props;
  const { onToggle, onSet, onRename } = props;
  const at = `/steps/${index}`;
  const problem = context.problems.in(at);
  const card = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => {
    if (isOpen && follows.current) card.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return (
    <li ref={card} class={`step-card ${problem === undefined ? "" : "is-faulty"}`}>
      <div class="step-head">
        <button type="button" class="step-toggle" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={problem === undefined ? stepIcons[step.type] : "alert"} />
          <strong>{stepName(step.type)}</strong>
          <code>{step.id}</code>
          <bdi class="muted truncate grow">{summary}</bdi>
          <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
        </button>
        <Menu label={e("stepMenu", { id: step.id })} items={items} />
      </div>
      {isOpen && (
        <div class="step-body">
          <div class="editor-row">
            <Select
              label={e("stepType")}
              value={step.type}
              options={types.map((type) => ({ value: type, label: stepName(type) }))}
              onChange={(type) => onSet({ type })}
            />
            <TextField
              {...code}
              label={e("stepId")}
              autocomplete="off"
              value={step.id}
              problem={context.problems.of(`${at}/id`)}
              // References follow when the whole id is typed.
              onCommit={onRename}
            />
          </div>
          <StepFields step={step} set={onSet} context={context} at={at} />
          {context.problems.of(at) !== undefined && (
            <p class="field-problem">{context.problems.of(at)}</p>
          )}
        </div>
      )}
      {!isOpen && problem !== undefined && <p class="field-problem">{problem}</p>}
    </li>
  );
}
