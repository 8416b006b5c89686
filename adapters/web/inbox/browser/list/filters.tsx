/** The filters of a list: the button that opens their form, and those that are set. */
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useState } from "preact/hooks";
import {
  Button,
  IconButton,
  Popover,
  TextField,
  useShortcuts,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** A filter that is set, as the page shows it. */
export interface ActiveFilter {
  /** The parameter of the place that holds its value. */
  readonly parameter: string;
  /** Its name and value. */
  readonly label: string;
}

/** Changes parameters of the place. Removes those that are undefined. */
export type ChangePlace = (next: Readonly<Record<string, string | undefined>>) => void;

interface FiltersProps {
  readonly anchor: RefObject<HTMLButtonElement | null>;
  /** The filters that are set. */
  readonly active: readonly ActiveFilter[];
  readonly onChange: ChangePlace;
  /** The fields of the form. */
  readonly children: ComponentChildren;
}

/** The form of the filters, behind a button that says how many are set. */
export function Filters({ anchor, active, onChange, children }: FiltersProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const open = (): void => {
    // A narrow window hides the list behind what is open.
    if (anchor.current?.checkVisibility() === true) setOpen(true);
  };
  useShortcuts(t("keysList"), [{ key: "f", label: t("filter"), run: open }]);
  return (
    <>
      <Button
        kind="quiet"
        isSmall
        icon="filter"
        buttonRef={anchor}
        aria-expanded={isOpen}
        aria-pressed={active.length > 0}
        onClick={() => setOpen(!isOpen)}
      >
        {active.length > 0 ? t("filtersActive", { count: active.length }) : t("filter")}
      </Button>
      {isOpen && (
        <Popover anchor={anchor} onClose={() => setOpen(false)} class="filters">
          {children}
          <Button
            isSmall
            disabled={active.length === 0}
            onClick={() => onChange(withoutFilters(active))}
          >
            {t("filterClear")}
          </Button>
        </Popover>
      )}
    </>
  );
}

/** The change of the place that removes all filters. */
export const withoutFilters = (active: readonly ActiveFilter[]): Record<string, undefined> =>
  Object.fromEntries(active.map(({ parameter }) => [parameter, undefined]));

interface ActiveFiltersProps extends Pick<FiltersProps, "anchor" | "active" | "onChange"> {}

/** The filters that are set. Each can be removed. */
export function ActiveFilters({
  anchor,
  active,
  onChange,
}: ActiveFiltersProps): JSX.Element | null {
  if (active.length === 0) return null;
  return (
    <ul class="chips is-filters" aria-label={t("filtersSet")}>
      {active.map(({ parameter, label }) => (
        <li key={parameter} class="chip">
          <bdi class="truncate">{label}</bdi>
          <IconButton
            icon="close"
            isSmall
            label={t("filterRemove", { name: label })}
            onClick={() => {
              // This button disappears with its filter.
              anchor.current?.focus();
              onChange({ [parameter]: undefined });
            }}
          />
        </li>
      ))}
    </ul>
  );
}

const maxProposed = 8;

interface LabelFilterProps {
  readonly value: string | undefined;
  /** The labels that the page knows, the most frequent first. */
  readonly known: readonly string[];
  readonly onChange: (label: string | undefined) => void;
}

/** A filter by a label, which the person types or picks from the most frequent ones. */
export function LabelFilter({ value, known, onChange }: LabelFilterProps): JSX.Element {
  /** What is typed and not applied. Undefined once it is. */
  const [typed, setTyped] = useState<string>();
  const apply = (label: string): void => {
    onChange(label.trim() || undefined);
    setTyped(undefined);
  };
  const words = (typed ?? "").trim().toLowerCase();
  const proposed = known.filter((each) => each.toLowerCase().includes(words));
  return (
    <>
      <TextField
        label={t("filterLabel")}
        autofocus
        autocomplete="off"
        maxLength={64}
        value={typed ?? value ?? ""}
        onChange={setTyped}
        onCommit={apply}
      />
      {proposed.length > 0 && (
        <div class="label-choices" role="group" aria-label={t("filterLabels")}>
          {proposed.slice(0, maxProposed).map((label) => (
            <button
              key={label}
              type="button"
              class="choice"
              aria-pressed={label === value}
              // A field that lost the focus would apply what is typed in it.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => apply(label === value ? "" : label)}
            >
              <bdi class="truncate">{label}</bdi>
            </button>
          ))}
        </div>
      )}
    </>
  );
}
