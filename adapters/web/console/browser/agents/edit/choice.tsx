/** A choice among things that the form itself may rename or remove. */
import type { JSX } from "preact";
import { Select } from "../../../../shared/browser/index.ts";
import { e } from "./texts.ts";

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
  readonly problem: string | undefined;
}

/** One of several. A value that is none of them is kept and named. */
export function Choice({ label, value, options, onChange, problem }: ChoiceProps): JSX.Element {
  const isKnown = options.some((each) => each.value === value);
  const extra = value === "" ? e("choose") : e("targetUnknown", { id: value });
  return (
    <Select
      label={label}
      problem={problem}
      value={value}
      options={isKnown ? options : [{ value, label: extra }, ...options]}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

interface TargetProps extends Omit<ChoiceProps, "options"> {
  readonly ids: readonly string[];
  /** What happens without a step. */
  readonly none: string;
}

/** The step that follows, or none. */
export function Target({ ids, none, ...props }: TargetProps): JSX.Element {
  const options = [...new Set(ids)].map((id) => ({ value: id, label: id }));
  return <Choice {...props} options={[{ value: "", label: none }, ...options]} />;
}
