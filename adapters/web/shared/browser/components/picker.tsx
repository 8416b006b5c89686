import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { isComposing } from "../keyboard/composing.ts";
import { text } from "../texts/shared-texts.ts";
import { Icon } from "./icons.tsx";
import { Popover } from "./popover.tsx";

/** One option of a picker. */
export interface PickerOption {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly start?: ComponentChildren;
  readonly isChosen?: boolean;
}

interface PickerProps {
  readonly anchor: RefObject<HTMLElement | null>;
  /** What is picked: the name of the list, and the placeholder of its filter. */
  readonly label: string;
  readonly options: readonly PickerOption[];
  readonly onPick: (id: string) => void;
  readonly onClose: () => void;
  /**
   * Offers the typed text as a new option. Returns the option, or undefined for none. An option
   * that is listed already is not offered again.
   */
  readonly propose?: (typed: string) => PickerOption | undefined;
  /** Stays open after a pick, for several picks. */
  readonly isMultiple?: boolean;
  /** Says what the person must know about the typed text, such as why it cannot be picked. */
  readonly note?: (typed: string) => string | undefined;
  readonly footer?: ComponentChildren;
}

const maxShown = 100;

/** A list of options with a filter, for people, labels and times. */
export function Picker(props: PickerProps): JSX.Element {
  const { anchor, label, options, onPick, onClose, propose, isMultiple } = props;
  const [typed, setTyped] = useState("");
  /** The active option. Undefined for the first one. */
  const [activeId, setActiveId] = useState<string>();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);

  const words = typed.trim().toLowerCase();
  const begins = (each: PickerOption): boolean => each.label.toLowerCase().startsWith(words);
  const matching = options
    .filter((each) => `${each.label} ${each.hint ?? ""}`.toLowerCase().includes(words))
    // Whoever types how an option begins means no other one, and Enter picks the first.
    .toSorted((a, b) => Number(begins(b)) - Number(begins(a)));
  const proposed = typed.trim() === "" ? undefined : propose?.(typed.trim());
  const listed = matching.slice(0, maxShown);
  const isNew = proposed !== undefined && listed.every((each) => each.id !== proposed.id);
  const shown = isNew ? [...listed, proposed] : listed;
  const at = activeId === undefined ? 0 : shown.findIndex((each) => each.id === activeId);
  const active = shown[at];
  const note = props.note?.(typed.trim()) ?? (shown.length === 0 ? text("noOptions") : undefined);

  const pick = (option: PickerOption): void => {
    if (isMultiple === true) {
      setTyped("");
      // The same option stays active, so that another Enter picks no other one.
      setActiveId(option.id);
      input.current?.focus();
    } else {
      onClose();
    }
    onPick(option.id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next =
        event.key === "ArrowDown" ? (shown[at + 1] ?? shown[0]) : shown.at(Math.max(at, 0) - 1);
      setActiveId(next?.id);
    } else if (event.key === "Enter" && active !== undefined) {
      event.preventDefault();
      pick(active);
    }
  };
  return (
    <Popover anchor={anchor} onClose={onClose} class="picker">
      <input
        ref={input}
        class="picker-input"
        role="combobox"
        autofocus
        aria-label={label}
        aria-expanded="true"
        aria-controls={id}
        aria-describedby={note && `${id}-note`}
        aria-activedescendant={active && `${id}-${at}`}
        autocomplete="off"
        spellcheck={false}
        placeholder={label}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActiveId(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <p class="picker-note" role="status" id={`${id}-note`}>
        {note}
      </p>
      <div class="picker-options" role="listbox" aria-label={label} id={id}>
        {shown.map((option, index) => (
          <Option
            key={option.id}
            id={`${id}-${index}`}
            option={option}
            isActive={option === active}
            onPick={() => pick(option)}
            onEnter={() => setActiveId(option.id)}
          />
        ))}
      </div>
      {props.footer !== undefined && <div class="picker-footer">{props.footer}</div>}
    </Popover>
  );
}

interface OptionProps {
  readonly id: string;
  readonly option: PickerOption;
  readonly isActive: boolean;
  readonly onPick: () => void;
  readonly onEnter: () => void;
}

function Option({ id, option, isActive, onPick, onEnter }: OptionProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <div
      ref={element}
      id={id}
      role="option"
      aria-selected={option.isChosen === true}
      class={isActive ? "picker-option is-active" : "picker-option"}
      onPointerMove={onEnter}
      // The filter keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPick}
    >
      {option.start}
      <bdi class="grow truncate">{option.label}</bdi>
      {option.hint !== undefined && <span class="muted">{option.hint}</span>}
      {option.isChosen === true && <Icon name="check" />}
    </div>
  );
}
