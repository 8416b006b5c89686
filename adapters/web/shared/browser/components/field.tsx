import type {
  ComponentChildren,
  JSX,
  PartialInputHTMLAttributes,
  PartialSelectHTMLAttributes,
  Ref,
  TextareaHTMLAttributes,
} from "preact";
import { useId } from "preact/hooks";
import { text } from "../texts/shared-texts.ts";

interface FieldProps {
  readonly label: string;
  /** Hides the label from sight. Screen readers still say it. */
  readonly isLabelHidden?: boolean;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly problem?: string | undefined;
  readonly isOptional?: boolean;
  /** The control, which takes these attributes. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** A labelled control with a hint and the problem of its value. */
export function Field(props: FieldProps): JSX.Element {
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

type Labels = Omit<FieldProps, "children">;
type Given<Attributes> = Omit<
  Attributes,
  "label" | "children" | "ref" | "role" | "size" | "type" | "multiple" | "list"
>;

interface TextFieldProps extends Labels, Given<PartialInputHTMLAttributes<HTMLInputElement>> {
  readonly type?:
    "text" | "search" | "password" | "email" | "tel" | "url" | "date" | "datetime-local";
}

/** One line of text. */
export function TextField(props: TextFieldProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, type = "text", ...rest } = props;
  // The types of inputs differ only in the roles that they allow.
  const typed: object = { type };
  return (
    <Field {...labelsOf({ label, isLabelHidden, hint, problem, isOptional })}>
      {(attributes) => <input class="input" dir="auto" {...rest} {...attributes} {...typed} />}
    </Field>
  );
}

interface TextAreaProps extends Labels, Given<TextareaHTMLAttributes> {
  readonly areaRef?: Ref<HTMLTextAreaElement>;
}

/** Several lines of text. */
export function TextArea(props: TextAreaProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, areaRef, ...rest } = props;
  return (
    <Field {...labelsOf({ label, isLabelHidden, hint, problem, isOptional })}>
      {(attributes) => (
        <textarea class="input" dir="auto" {...rest} {...attributes} ref={areaRef ?? null} />
      )}
    </Field>
  );
}

interface SelectProps extends Labels, Given<PartialSelectHTMLAttributes<HTMLSelectElement>> {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

/** A choice of one of few values. */
export function Select(props: SelectProps): JSX.Element {
  const { label, isLabelHidden, hint, problem, isOptional, options, value, ...rest } = props;
  return (
    <Field {...labelsOf({ label, isLabelHidden, hint, problem, isOptional })}>
      {(attributes) => (
        <select class="input select" {...rest} {...attributes} value={value}>
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

/** Leaves out what is undefined, as exact optional properties need it. */
function labelsOf(labels: { [Name in keyof Labels]: Labels[Name] | undefined }): Labels {
  const given = Object.entries(labels).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as Labels;
}

interface CheckboxProps extends Given<PartialInputHTMLAttributes<HTMLInputElement>> {
  readonly label: ComponentChildren;
}

export function Checkbox({ label, ...rest }: CheckboxProps): JSX.Element {
  return (
    <label class="checkbox">
      <input {...rest} type="checkbox" />
      <span>{label}</span>
    </label>
  );
}
