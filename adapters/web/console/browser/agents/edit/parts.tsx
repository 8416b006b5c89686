/** What the forms of agents and playbooks are made of. */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import {
  Button,
  Checkbox,
  explain,
  go,
  Icon,
  IconButton,
  TextArea,
  TextField,
} from "../../../../shared/browser/index.ts";
import { Card, PageView } from "../../parts/layout.tsx";
import { t } from "../../texts.ts";
import { withCode } from "../../parts/values.tsx";
import type { Form } from "./form.ts";
import { e } from "./texts.ts";

interface EditorProps<Values> {
  readonly title: string;
  readonly back: { readonly href: string; readonly label: string };
  readonly save: string;
  readonly form: Form<Values>;
  readonly isNew: boolean;
  readonly children: ComponentChildren;
}

/** A page with a form, which says what the server finds wrong. */
export function Editor<Values>(props: EditorProps<Values>): JSX.Element {
  const { title, back, save, form, isNew, children } = props;
  const canSave = isNew || form.isChanged;
  return (
    <PageView title={title} back={back}>
      <form
        class="editor"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (canSave && !form.isBusy) void form.save();
        }}
      >
        {form.isRestored && (
          <p class="notice tone-neutral" role="status">
            <Icon name="info" />
            <span class="grow">{e("restored")}</span>
            <Button isSmall onClick={form.discard}>
              {e("discard")}
            </Button>
          </p>
        )}
        {children}
        <footer class="editor-end">
          {form.error !== undefined && (
            <p class="notice tone-bad" role="alert">
              <Icon name="alert" />
              <span class="pre-line">{explain(form.error)}</span>
            </p>
          )}
          <div class="editor-buttons">
            <Button
              onClick={() => {
                form.discard();
                go(back.href);
              }}
            >
              {t("cancel")}
            </Button>
            <Button kind="primary" type="submit" isBusy={form.isBusy} disabled={!canSave}>
              {save}
            </Button>
          </div>
        </footer>
      </form>
    </PageView>
  );
}

interface SectionProps {
  readonly title: string;
  readonly about?: string | undefined;
  readonly children: ComponentChildren;
}

/** A part of a form. */
export const Section = ({ title, about, children }: SectionProps): JSX.Element => (
  <Card title={title}>
    {about !== undefined && <p class="muted">{withCode(about)}</p>}
    {children}
  </Card>
);

type TextKeys<Values> = {
  [Key in keyof Values]: Values[Key] extends string ? Key : never;
}[keyof Values] &
  string;

interface InputProps<Values> {
  readonly of: Values;
  readonly name: TextKeys<Values>;
  readonly set: (change: Partial<Values>) => void;
  readonly label: string;
  readonly problem: string | undefined;
  readonly hint?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isOptional?: boolean;
  readonly isLabelHidden?: boolean;
  readonly isCode?: boolean;
  readonly inputMode?: "decimal" | "numeric";
}

/** One line of text that is a field of `of`. */
export function Input<Values extends object>(props: InputProps<Values>): JSX.Element {
  const { of, name, set, hint, isCode, placeholder, inputMode, ...labels } = props;
  return (
    <TextField
      {...labels}
      {...(hint !== undefined && { hint: withCode(hint) })}
      {...(placeholder !== undefined && { placeholder })}
      {...(inputMode !== undefined && { inputMode })}
      {...(isCode === true && { class: "input mono", spellcheck: false })}
      autocomplete="off"
      value={String(of[name])}
      onInput={({ currentTarget }) => set(changeOf(name, currentTarget.value))}
    />
  );
}

interface LinesProps<Values> extends Omit<InputProps<Values>, "isCode" | "inputMode"> {
  readonly rows: number;
}

/** Several lines of text that are a field of `of`. */
export function Lines<Values extends object>(props: LinesProps<Values>): JSX.Element {
  const { of, name, set, hint, rows, placeholder, ...labels } = props;
  return (
    <TextArea
      {...labels}
      rows={rows}
      {...(hint !== undefined && { hint: withCode(hint) })}
      {...(placeholder !== undefined && { placeholder })}
      value={String(of[name])}
      onInput={({ currentTarget }) => set(changeOf(name, currentTarget.value))}
    />
  );
}

const changeOf = <Values,>(name: keyof Values, value: string): Partial<Values> =>
  ({ [name]: value }) as Partial<Values>;

interface ListProps<Item> {
  readonly items: readonly Item[];
  readonly onChange: (items: readonly Item[]) => void;
  readonly add: string;
  readonly empty: Item;
  /** What one item is called, for the button that removes it. */
  readonly item: string;
  /** Puts the fields of an item side by side. */
  readonly isInline?: boolean;
  readonly children: (
    item: Item,
    set: (change: Partial<Item>) => void,
    place: number,
  ) => ComponentChildren;
}

/** A list of parts of a form, which a person adds and removes. */
export function List<Item extends object>(props: ListProps<Item>): JSX.Element {
  const { items, onChange, add, empty, item, isInline, children } = props;
  return (
    <div class="editor-list">
      {items.length > 0 && (
        <ol>
          {items.map((each, place) => (
            <li key={place} class={isInline === true ? "editor-item is-inline" : "editor-item"}>
              {children(
                each,
                (change) => onChange(items.with(place, { ...each, ...change })),
                place,
              )}
              <IconButton
                icon="trash"
                class="editor-remove"
                label={e("remove", { item: `${item} ${place + 1}` })}
                onClick={() => onChange(items.toSpliced(place, 1))}
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
  readonly hint?: string | undefined;
  readonly options: readonly {
    readonly value: string;
    readonly label: ComponentChildren;
    readonly note?: ComponentChildren;
  }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly problem: string | undefined;
  /** What stands there without options. */
  readonly none?: string;
  /** Puts the options side by side. */
  readonly isInline?: boolean;
}

/** Several of some options. */
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
      {hint !== undefined && <p class="field-hint">{withCode(hint)}</p>}
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
          onChange={({ currentTarget }) =>
            onChange(
              currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value),
            )
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
