import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  Button,
  Checkbox,
  go,
  Icon,
  IconButton,
  isComposing,
  linkTo,
  placeNow,
  Popover,
  Select,
  Tabs,
  TextField,
} from "../../../shared/browser/index.ts";
import { counts } from "../state/live.ts";
import { isEverywhere, type ListQuery, views } from "../state/views.ts";
import { t } from "../texts.ts";
import { priorityName } from "../words.ts";
import { List } from "./list.tsx";
import { NewMessageButton } from "./new-message.tsx";
import { countText, viewName } from "../rail.tsx";

type PlaceQuery = Readonly<Record<string, string | undefined>>;

interface ListPaneProps {
  readonly query: ListQuery;
  readonly active: string | undefined;
  readonly placeQuery: PlaceQuery;
}

/** The list with its view, search and filters. */
export function ListPane({ query, active, placeQuery }: ListPaneProps): JSX.Element {
  const { view, label, channel, priority, unread, words } = query;
  const filters = [label, channel, priority, unread].filter((each) => each !== undefined).length;
  const change = (next: PlaceQuery): void => {
    // A person may have gone elsewhere since they typed.
    const { path, query: now } = placeNow();
    go(linkTo(path.length === 0 ? [view] : path, { ...now, ...next }), true);
  };
  return (
    <section class="list-pane" id="conversations" aria-label={t("conversations")}>
      <div class="list-header">
        <h2 class="list-title">{isEverywhere(query) ? t("searchResults") : viewName(view)}</h2>
        <span class="list-view-choice">
          <Select
            label={t("views")}
            isLabelHidden
            value={view}
            options={views.map((each) => {
              const count = counts.value[each] ?? 0;
              const name = viewName(each);
              return { value: each, label: count > 0 ? `${name} (${countText(count)})` : name };
            })}
            onChange={({ currentTarget }) => go(linkTo([currentTarget.value]))}
          />
        </span>
        <div class="list-tools">
          <Filters query={query} active={filters} onChange={change} />
          <NewMessageButton />
        </div>
      </div>
      <Search
        words={words}
        onChange={(next) => change({ q: next, ...(next === undefined && { in: undefined }) })}
      />
      {words !== undefined && (
        <Tabs
          label={t("searchScope")}
          active={isEverywhere(query) ? "all" : "view"}
          onChange={(scope) => change({ in: scope === "view" ? scope : undefined })}
          tabs={[
            { id: "all", label: t("searchAll") },
            { id: "view", label: t("searchInView", { view: viewName(view) }) },
          ]}
        />
      )}
      <List query={query} isFiltered={filters > 0} active={active} placeQuery={placeQuery} />
    </section>
  );
}

const typingMs = 250;

interface SearchProps {
  readonly words: string | undefined;
  readonly onChange: (words: string | undefined) => void;
}

function Search({ words, onChange }: SearchProps): JSX.Element {
  const [typed, setTyped] = useState(words ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // An effect that runs after a paint could undo what a person has typed meanwhile.
  useLayoutEffect(() => {
    setTyped((before) => (before.trim() === (words ?? "") ? before : (words ?? "")));
  }, [words]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string): void => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(text.trim() || undefined), typingMs);
  };
  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <input
        class="search-input"
        type="search"
        data-search
        aria-label={t("search")}
        placeholder={t("search")}
        dir="auto"
        maxLength={200}
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || isComposing(event)) return;
          event.stopPropagation();
          type("");
          event.currentTarget.blur();
        }}
      />
      {typed !== "" && (
        <IconButton icon="close" isSmall label={t("searchClear")} onClick={() => type("")} />
      )}
    </form>
  );
}

interface FiltersProps {
  readonly query: ListQuery;
  /** How many filters are set. */
  readonly active: number;
  readonly onChange: (next: PlaceQuery) => void;
}

function Filters({ query, active, onChange }: FiltersProps): JSX.Element {
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
