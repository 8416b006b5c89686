import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button, Checkbox, Popover, Select, TextField } from "../../../shared/browser/index.ts";
import type { ListQuery } from "../state/views.ts";
import { t } from "../texts.ts";
import { priorityName } from "../words.ts";

interface FiltersProps {
  readonly query: ListQuery;
  /** How many filters are set. */
  readonly active: number;
  readonly onChange: (next: Readonly<Record<string, string | undefined>>) => void;
}

/** The filters of a view, behind a button that says how many are set. */
export function Filters({ query, active, onChange }: FiltersProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button
        kind="quiet"
        isSmall
        icon="filter"
        buttonRef={anchor}
        aria-expanded={isOpen}
        aria-pressed={active > 0}
        onClick={() => setOpen(!isOpen)}
      >
        {active > 0 ? t("filtersActive", { count: active }) : t("filter")}
      </Button>
      {isOpen && (
        <Popover anchor={anchor} onClose={() => setOpen(false)} class="filters">
          <FilterForm query={query} active={active} onChange={onChange} />
        </Popover>
      )}
    </>
  );
}

function FilterForm({ query, active, onChange }: FiltersProps): JSX.Element {
  /** What is typed and not applied. Undefined once it is. */
  const [label, setLabel] = useState<string>();
  const any = { value: "", label: t("filterAny") };
  const priorities = (["urgent", "high", "normal", "low"] as const).map((value) => ({
    value,
    label: priorityName(value),
  }));
  return (
    <>
      <TextField
        label={t("filterLabel")}
        autofocus
        maxLength={64}
        value={label ?? query.label ?? ""}
        onInput={({ currentTarget }) => setLabel(currentTarget.value)}
        onChange={({ currentTarget }) => {
          onChange({ label: currentTarget.value.trim() || undefined });
          setLabel(undefined);
        }}
      />
      <Select
        label={t("filterChannel")}
        value={query.channel ?? ""}
        options={[
          any,
          { value: "sms", label: t("channelText") },
          { value: "webchat", label: t("channelWebchat") },
        ]}
        onChange={({ currentTarget }) => onChange({ channel: currentTarget.value })}
      />
      <Select
        label={t("filterPriority")}
        value={query.priority ?? ""}
        options={[any, ...priorities]}
        onChange={({ currentTarget }) => onChange({ priority: currentTarget.value })}
      />
      <Checkbox
        label={t("filterUnread")}
        checked={query.unread === true}
        onChange={({ currentTarget }) =>
          onChange({ unread: currentTarget.checked ? "true" : undefined })
        }
      />
      <Button
        isSmall
        disabled={active === 0}
        onClick={() =>
          onChange({ label: undefined, channel: undefined, priority: undefined, unread: undefined })
        }
      >
        {t("filterClear")}
      </Button>
    </>
  );
}
