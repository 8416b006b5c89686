import type { JSX, RefObject } from "preact";
import { useState } from "preact/hooks";
import { Picker } from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

/** The limits of the API, for contacts and for conversations. */
const maxLabels = 50;
const maxCharacters = 64;
const unstorable = /[\0\p{Surrogate}]/u;

interface LabelPickerProps {
  readonly anchor: RefObject<HTMLElement | null>;
  /** The labels that are set. */
  readonly labels: readonly string[];
  /** Labels that may be added, the best first. Called once. */
  readonly propose: () => readonly string[];
  readonly onChange: (label: string, isAdded: boolean) => void;
  readonly onClose: () => void;
}

/** Adds and removes the labels of a contact or a conversation. */
export function LabelPicker(props: LabelPickerProps): JSX.Element {
  const { anchor, labels, propose, onChange, onClose } = props;
  // No label moves under the pointer when it is set or removed.
  const [listed] = useState(() => [...labels, ...propose()]);
  const known = new Set([...listed, ...labels]);
  const isFull = labels.length >= maxLabels;
  const offered = isFull ? [...known].filter((label) => labels.includes(label)) : [...known];
  return (
    <Picker
      anchor={anchor}
      label={t("labelAdd")}
      onClose={onClose}
      isMultiple
      options={offered.map((label) => ({ id: label, label, isChosen: labels.includes(label) }))}
      note={(typed) => problemOf(typed) ?? (isFull ? full() : undefined)}
      propose={(typed) =>
        isFull || known.has(typed) || problemOf(typed) !== undefined
          ? undefined
          : { id: typed, label: t("labelNew", { name: typed }) }
      }
      onPick={(label) => onChange(label, !labels.includes(label))}
    />
  );
}

const full = (): string => t("labelsFull", { count: maxLabels });

/** Why a text can be no label. */
function problemOf(typed: string): string | undefined {
  const { length: count } = [...typed];
  if (count > maxCharacters) return t("labelTooLong", { max: maxCharacters, count });
  return unstorable.test(typed) ? t("labelUnstorable") : undefined;
}
