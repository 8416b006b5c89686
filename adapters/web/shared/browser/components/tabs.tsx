import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { stepOf } from "../keyboard/arrow-keys.ts";

interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
  /** What a dot at the label stands for. Without it, there is no dot. */
  readonly mark?: string | undefined;
}

interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly active: Id;
  readonly onChange: (id: Id) => void;
  /** The id of the element that shows the active tab's content. */
  readonly panel?: string;
}

/** Tabs. Arrow keys move between them. */
export function Tabs<Id extends string>(props: TabsProps<Id>): JSX.Element {
  const { label, tabs, active, onChange, panel } = props;
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === active);
    const step = stepOf(event);
    const next = tabs.at((at + step) % tabs.length);
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(({ id, label, mark }) => (
        <button
          key={id}
          type="button"
          role="tab"
          class="tab"
          data-tab={id}
          aria-selected={id === active}
          aria-controls={panel}
          tabIndex={id === active ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {label}
          {mark !== undefined && (
            <span class="tab-mark" data-tooltip={mark}>
              <span class="visually-hidden">{mark}</span>
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
