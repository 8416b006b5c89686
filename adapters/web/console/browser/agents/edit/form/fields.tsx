/** The fields of forms: lists and choices. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { Button, Checkbox, IconButton, Select } from "../../../../../shared/browser/index.ts";
import { e } from "../texts.ts";

/** The look of a text that programs read. */
export const code = { class: "input mono", spellcheck: false } as const;

interface ListProps<Item> {
  readonly items: readonly Item[];
  readonly onChange: (items: readonly Item[]) => void;
  /** The label of the button that adds an item. */
  readonly add: string;
  /** The item that it adds. */
  readonly empty: Item;
  /** What one item is called, for the button that removes it. */
  readonly item: string;
  /** Puts the fields of an item side by side. */
  readonly isInline?: boolean;
  readonly children: (
    item: Item,
    set: (change: Partial<Item>) => void,
    index: number,
  ) => ComponentChildren;
}

/** A list of parts of a form, which a person adds and removes. */
export function List<Item extends object>(props: ListProps<Item>): JSX.Element {
  const { items, onChange, add, empty, item, isInline, children } = props;
  return (
    <div class="editor-list">
      {items.length > 0 && (
        <ol>
          {items.map((each, index) => (
            <li key={index} class={isInline === true ? "editor-item is-inline" : "editor-item"}>
              {children(
                each,
                (change) => onChange(items.with(index, { ...each, ...change })),
                index,
              )}
              <IconButton
                icon="trash"
                class="editor-remove"
                label={e("remove", { item: `${item} ${index + 1}` })}
                onClick={() => onChange(items.toSpliced(index, 1))}
              />
            </li>
          ))}
        </ol>
      )}
      <Button isSmall icon="plus" onClick={() => onChange([...items, empty])}>
        {add}
      </Button>
    </div>
  );
}

interface ChoicesProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly options: readonly {
    readonly value: string;
    readonly label: ComponentChildren;
    readonly note?: ComponentChildren;
  }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly problem: string | undefined;
  /** The text if there are no options. */
  readonly none?: string;
  /** Puts the options side by side. */
  readonly isInline?: boolean;
}

/** A choice of several. */
export function Choices(props: ChoicesProps): JSX.Element {
  const { label, hint, options, chosen, onChange, problem, none, isInline } = props;
  const id = useId();
  return (
    <fieldset
      class={isInline === true ? "choices is-inline" : "choices"}
      aria-describedby={problem === undefined ? undefined : id}
      data-invalid={problem !== undefined ? "" : undefined}
      tabIndex={-1}
    >
      <legend class="field-label">{label}</legend>
      {hint !== undefined && <p class="field-hint">{hint}</p>}
      {options.map(({ value, label: name, note }) => (
        <Checkbox
          key={value}
          checked={chosen.includes(value)}
          label={
            <>
              {name}
              {note !== undefined && <span class="choice-note muted">{note}</span>}
            </>
          }
          onChange={(isChecked) =>
            onChange(isChecked ? [...chosen, value] : chosen.filter((each) => each !== value))
          }
        />
      ))}
      {options.length === 0 && none !== undefined && <p class="muted">{none}</p>}
      {problem !== undefined && (
        <p id={id} class="field-problem">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
  readonly problem: string | undefined;
}

/**
 * A choice of one. The same form may rename or remove the options, so a value that is no longer
 * among them is kept and shown.
 */
export function Choice({ label, value, options, onChange, problem }: ChoiceProps): JSX.Element {
  const isKnown = options.some((each) => each.value === value);
  const extra = value === "" ? e("choose") : e("targetUnknown", { id: value });
  return (
    <Select
      label={label}
      problem={problem}
      value={value}
      options={isKnown ? options : [{ value, label: extra }, ...options]}
      onChange={onChange}
    />
  );
}

interface StepChoiceProps extends Omit<ChoiceProps, "options"> {
  readonly ids: readonly string[];
  /** What happens if no step is chosen. */
  readonly none: string;
}

/** A choice of the step that follows, or of none. */
export function StepChoice({ ids, none, ...props }: StepChoiceProps): JSX.Element {
  const options = [...new Set(ids)].map((id) => ({ value: id, label: id }));
  return <Choice {...props} options={[{ value: "", label: none }, ...options]} />;
}
