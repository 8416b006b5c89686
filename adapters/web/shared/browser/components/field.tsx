import type {
  ComponentChildren,
  JSX,
  PartialInputHTMLAttributes,
  TextareaHTMLAttributes,
} from "preact";
import { useId, useState } from "preact/hooks";
import { text } from "../texts/shared-texts.ts";

interface Labels {
  readonly label: string;
  /** Hides the label from sight. Screen readers still say it. */
  readonly isLabelHidden?: boolean | undefined;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly problem?: string | undefined;
  readonly isOptional?: boolean | undefined;
}

interface FieldProps extends Labels {
  /** The control, which takes these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** A labelled control with a hint and the problem of its value. */
function Field(props: FieldProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, children } = props;
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`];
  return (
    <div class="field">
      <label for={id} class={isLabelHidden === true ? "visually-hidden" : "field-label"}>
        {label}
        {isOptional === true && <span class="muted"> ({text("optional")})</span>}
      </label>
      {children({
        id,
        "aria-describedby": described.filter(Boolean).join(" ") || undefined,
        "aria-invalid": problem !== undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} class="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}

type Given<Attributes> = Omit<
  Attributes,
  | keyof Labels
  | "value"
  | "onInput"
  | "onChange"
  | "children"
  | "ref"
  | "role"
  | "size"
  | "type"
  | "multiple"
  | "list"
>;

interface TextFieldProps extends Labels, Given<PartialInputHTMLAttributes<HTMLInputElement>> {
  readonly type?:
    "text" | "search" | "password" | "email" | "tel" | "url" | "date" | "datetime-local";
  readonly value: string;
  /** Gets the text whenever the person changes it. */
  readonly onChange?: (text: string) => void;
  /** Gets a changed text once the person presses Enter or leaves the field. */
  readonly onCommit?: (text: string) => void;
}

/** One line of text, or a date. Says so when the person leaves a date half-typed. */
export function TextField(props: TextFieldProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, type = "text", ...others } = props;
  const { onChange, onCommit, ...rest } = others;
  const [isIncomplete, setIncomplete] = useState(false);
  // The types of inputs differ only in the roles that they allow.
  const typed: object = { type };
  return (
    <Field
      {...{ label, isLabelHidden, hint, isOptional }}
      problem={isIncomplete ? text("incomplete") : problem}
    >
      {(attributes) => (
        <input
          class="input"
          dir="auto"
          {...rest}
          {...attributes}
          {...typed}
          onInput={({ currentTarget }) => {
            setIncomplete(false);
            onChange?.(currentTarget.value);
          }}
          onChange={({ currentTarget }) => onCommit?.(currentTarget.value)}
          // The value of a half-typed date is empty, and its parts cause no events.
          onBlur={({ currentTarget }) => setIncomplete(currentTarget.validity.badInput)}
        />
      )}
    </Field>
  );
}

interface TextAreaProps extends Labels, Given<TextareaHTMLAttributes> {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** Several lines of text. */
export function TextArea(props: TextAreaProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, onChange, ...rest } = props;
  return (
    <Field {...{ label, isLabelHidden, hint, problem, isOptional }}>
      {(attributes) => (
        <textarea
          class="input"
          dir="auto"
          {...rest}
          {...attributes}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps<Value extends string> extends Labels {
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice of one of few values. */
export function Select<Value extends string>(props: SelectProps<Value>): JSX.Element {
  const { options, value, onChange, ...labels } = props;
  return (
    <Field {...labels}>
      {(attributes) => (
        <select
          class="input select"
          {...attributes}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = options[currentTarget.selectedIndex];
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckboxProps {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly indeterminate?: boolean;
  readonly disabled?: boolean;
}

export function Checkbox({ label, onChange, ...rest }: CheckboxProps): JSX.Element {
  return (
    <label class="checkbox">
      <input
        {...rest}
        type="checkbox"
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
