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
  readonly footer?: ComponentChildren;
}

const maxShown = 100;

/** A list of options with a filter, for people, labels and times. */
export function Picker(props: PickerProps): JSX.Element {
  const { anchor, label, options, onPick, onClose, propose, isMultiple, footer } = props;
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);

  const words = typed.trim().toLowerCase();
  const matching = options.filter((each) =>
    `${each.label} ${each.hint ?? ""}`.toLowerCase().includes(words),
  );
  const proposed = typed.trim() === "" ? undefined : propose?.(typed.trim());
  const listed = matching.slice(0, maxShown);
  const isNew = proposed !== undefined && listed.every((each) => each.id !== proposed.id);
  const shown = isNew ? [...listed, proposed] : listed;
  const active = shown[Math.min(at, shown.length - 1)];

  const pick = (option: PickerOption): void => {
    if (isMultiple === true) {
      setTyped("");
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
      const step = event.key === "ArrowDown" ? 1 : shown.length - 1;
      setAt((Math.min(at, shown.length - 1) + step) % Math.max(1, shown.length));
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
        aria-activedescendant={active && `${id}-${shown.indexOf(active)}`}
        autocomplete="off"
        spellcheck={false}
        placeholder={label}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="picker-options" role="listbox" aria-label={label} id={id}>
        {shown.map((option, index) => (
          <Option
            key={option.id}
            id={`${id}-${index}`}
            option={option}
            isActive={option === active}
            onPick={() => pick(option)}
            onEnter={() => setAt(index)}
          />
        ))}
      </div>
      {shown.length === 0 && <p class="picker-empty">{text("noOptions")}</p>}
      {footer !== undefined && <div class="picker-footer">{footer}</div>}
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
