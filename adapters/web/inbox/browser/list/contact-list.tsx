import type { JSX } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { EmptyState } from "../../../shared/browser/index.ts";
import { contacts, followContacts } from "../state/contacts.ts";
import { t } from "../texts.ts";
import { ContactRow } from "./contact-row.tsx";
import { List } from "./list.tsx";

interface ContactListProps {
  /** The words of a search. */
  readonly words: string | undefined;
  /** The open contact. */
  readonly active: string | undefined;
  readonly placeQuery: Readonly<Record<string, string | undefined>>;
}

/** All contacts, the newest first, or those that a search has found. */
export function ContactList({ words, active, placeQuery }: ContactListProps): JSX.Element {
  const query = useMemo(() => ({ words }), [words]);
  useLayoutEffect(followContacts, []);
  return (
    <List
      list={contacts}
      query={query}
      label={t("contacts")}
      rowHeights={{ mouse: 3.75, touch: 4.25 }}
      active={active}
      nothing={
        words === undefined ? (
          <EmptyState icon="contacts" title={t("emptyContacts")}>
            {t("emptyContactsHint")}
          </EmptyState>
        ) : (
          <EmptyState icon="search" title={t("emptySearch")}>
            {t("emptyContactSearchHint")}
          </EmptyState>
        )
      }
      renderRow={(id, tabIndex) => (
        <ContactRow id={id} tabIndex={tabIndex} isActive={id === active} placeQuery={placeQuery} />
      )}
    />
  );
}
