import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button, EmptyState } from "../../../shared/browser/index.ts";
import type { ContactQuery } from "../state/contact-query.ts";
import { contacts, followContacts } from "../state/contacts.ts";
import { t } from "../texts.ts";
import { ContactRow } from "./contact-row.tsx";
import { List } from "./list.tsx";

interface ContactListProps {
  readonly query: ContactQuery;
  /** The open contact. */
  readonly active: string | undefined;
  /** Removes the filters. Undefined if none is set. */
  readonly onClearFilters: (() => void) | undefined;
}

/** All contacts, the newest first, or those that pass the filters or that a search has found. */
export function ContactList(props: ContactListProps): JSX.Element {
  const { query, active, onClearFilters } = props;
  useLayoutEffect(followContacts, []);
  return (
    <List
      list={contacts}
      query={query}
      label={t("contacts")}
      rowHeights={{ mouse: 3.75, touch: 4.25 }}
      active={active}
      nothing={<NoContacts words={query.words} onClearFilters={onClearFilters} />}
      renderRow={(id, tabIndex) => (
        <ContactRow id={id} tabIndex={tabIndex} isActive={id === active} />
      )}
    />
  );
}

interface NoContactsProps extends Pick<ContactListProps, "onClearFilters"> {
  /** The words of a search. */
  readonly words: string | undefined;
}

function NoContacts({ words, onClearFilters }: NoContactsProps): JSX.Element {
  const clear = onClearFilters !== undefined && (
    <Button onClick={onClearFilters}>
      {t(words === undefined ? "filterClear" : "searchWidenContacts")}
    </Button>
  );
  if (words !== undefined) {
    return (
      <EmptyState icon="search" title={t("emptySearch")} actions={clear}>
        {t("emptyContactSearchHint")}
      </EmptyState>
    );
  }
  if (clear !== false) {
    return <EmptyState icon="filter" title={t("emptyContactsFiltered")} actions={clear} />;
  }
  return (
    <EmptyState icon="contacts" title={t("emptyContacts")}>
      {t("emptyContactsHint")}
    </EmptyState>
  );
}
