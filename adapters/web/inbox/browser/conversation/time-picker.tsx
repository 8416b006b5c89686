import type { JSX, RefObject } from "preact";
import { dayAndTime, Picker, timeNow } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { timeChoices } from "./time-choices.ts";

interface TimePickerProps {
  /** What the picker stands next to. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly label: string;
  readonly onPick: (at: Date) => void;
  /** Called when the person wants to enter a time. */
  readonly onEnter: () => void;
  readonly onClose: () => void;
}

/** Chooses one of a few later times. */
export function TimePicker(props: TimePickerProps): JSX.Element {
  const { anchor, label, onPick, onEnter, onClose } = props;
  const choices = timeChoices(new Date(timeNow()));
  return (
    <Picker
      anchor={anchor}
      label={label}
      onClose={onClose}
      options={[
        ...choices.map(({ id, label: name, at }) => ({ id, label: name, hint: dayAndTime(at) })),
        { id: "at", label: t("snoozeCustom") },
      ]}
      onPick={(picked) => {
        const at = choices.find(({ id }) => id === picked)?.at;
        if (at === undefined) onEnter();
        else onPick(at);
      }}
    />
  );
}
