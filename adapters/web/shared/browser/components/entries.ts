import { useState } from "preact/hooks";

type FormField = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const isFormField = (target: EventTarget | null): target is FormField =>
  target instanceof HTMLInputElement ||
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement;

/** A half-typed date has an empty value. */
const contentOf = (field: FormField): string =>
  field instanceof HTMLInputElement && field.type === "checkbox"
    ? String(field.checked)
    : `${field.value}${field.validity.badInput ? " incomplete" : ""}`;

interface Entries {
  /** Remembers what a field has when the person first enters it. Returns whether it is a field. */
  readonly enter: (target: EventTarget | null) => boolean;
  readonly haveChanged: () => boolean;
  /** Gives the focus back to the field that had it last. */
  readonly goOn: () => void;
}

/** Knows what a person has changed in the fields of a form, whatever state they belong to. */
export function useEntries(): Entries {
  const [entries] = useState((): Entries => {
    const before = new Map<FormField, string>();
    let latest: FormField | undefined;
    return {
      enter(target) {
        if (!isFormField(target)) return false;
        if (!before.has(target)) before.set(target, contentOf(target));
        latest = target;
        return true;
      },
      haveChanged: () =>
        [...before].some(([field, content]) => field.isConnected && contentOf(field) !== content),
      goOn: () => latest?.focus(),
    };
  });
  return entries;
}
