import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { go, linkTo, placeNow, Select, Tabs } from "../../../shared/browser/index.ts";
import { countOfList, countText, listTitle } from "../rail.tsx";
import type { ContactQuery } from "../state/contact-query.ts";
import { isEverywhere, offeredLists, type ListName, type ListQuery } from "../state/views.ts";
import { t } from "../texts.ts";
import { ContactFilterFields, contactFilters } from "./contact-filters.tsx";
import { ContactList } from "./contact-list.tsx";
import { ConversationFilterFields, conversationFilters } from "./conversation-filters.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { ActiveFilters, Filters, withoutFilters, type ChangePlace } from "./filters.tsx";
import { NewMessageButton } from "./new-message.tsx";
import { Search } from "./search.tsx";

interface ListPaneProps {
  readonly name: ListName;
  /** What the list of conversations shows. */
  readonly query: ListQuery;
  /** What the list of contacts shows. */
  readonly contactQuery: ContactQuery;
  /** The id of what is open. */
  readonly active: string | undefined;
}

/** The list with its name, search and filters. */
export function ListPane(props: ListPaneProps): JSX.Element {
  const { name, query, contactQuery, active } = props;
  const { view } = query;
  const isContacts = name === "contacts";
  const { words } = isContacts ? contactQuery : query;
  const filters = isContacts ? contactFilters(contactQuery) : conversationFilters(query);
  const filterButton = useRef<HTMLButtonElement>(null);
  const change: ChangePlace = (next) => {
    // A person may have gone elsewhere since they typed.
    const { path, query: now } = placeNow();
    go(linkTo(path.length === 0 ? [name] : path, { ...now, ...next }), true);
  };
  return (
    <section class="list-pane" id="list" aria-label={t(isContacts ? "contacts" : "conversations")}>
      <div class="list-header">
        <h2 class="list-title">
          {!isContacts && isEverywhere(query) ? t("searchResults") : listTitle(name)}
        </h2>
        <ListChoice name={name} />
        <div class="list-tools">
          <Filters key={isContacts} anchor={filterButton} active={filters} onChange={change}>
            {isContacts ? (
              <ContactFilterFields query={contactQuery} onChange={change} />
            ) : (
              <ConversationFilterFields query={query} onChange={change} />
            )}
          </Filters>
          <NewMessageButton />
        </div>
      </div>
      <Search
        key={isContacts}
        label={t(isContacts ? "searchContacts" : "search")}
        words={words}
        onChange={(next) => change({ q: next, ...(next === undefined && { in: undefined }) })}
      />
      {!isContacts && words !== undefined && (
        <Tabs
          label={t("searchScope")}
          active={isEverywhere(query) ? "all" : "view"}
          onChange={(scope) => change({ in: scope === "view" ? scope : undefined })}
          tabs={[
            { id: "all", label: t("searchAll") },
            { id: "view", label: t("searchInView", { view: listTitle(view) }) },
          ]}
        />
      )}
      <ActiveFilters anchor={filterButton} active={filters} onChange={change} />
      {isContacts ? (
        <ContactList
          query={contactQuery}
          active={active}
          onClearFilters={filters.length === 0 ? undefined : () => change(withoutFilters(filters))}
        />
      ) : (
        <ConversationList query={query} isFiltered={filters.length > 0} active={active} />
      )}
    </section>
  );
}

/** The choice of a list, on screens that have no room for it in the rail. */
function ListChoice({ name }: Pick<ListPaneProps, "name">): JSX.Element {
  const options = offeredLists().map((each) => {
    const count = countOfList(each);
    const title = listTitle(each);
    return { value: each, label: count > 0 ? `${title} (${countText(count)})` : title };
  });
  return (
    <span class="list-view-choice">
      <Select
        label={t("views")}
        isLabelHidden
        value={name}
        options={options}
        onChange={(chosen) => go(linkTo([chosen]))}
      />
    </span>
  );
}
