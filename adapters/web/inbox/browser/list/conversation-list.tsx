import type { JSX } from "preact";
import { EmptyState, linkTo } from "../../../shared/browser/index.ts";
import { conversations } from "../state/conversations.ts";
import { isEverywhere, type ListQuery } from "../state/views.ts";
import { t, type TextKey } from "../texts.ts";
import { ConversationRow } from "./conversation-row.tsx";
import { List } from "./list.tsx";

interface ConversationListProps {
  readonly query: ListQuery;
  readonly isFiltered: boolean;
  /** The open conversation. */
  readonly active: string | undefined;
}

/** The conversations of a view, or those that a search has found. */
export function ConversationList(props: ConversationListProps): JSX.Element {
  const { query, isFiltered, active } = props;
  return (
    <List
      list={conversations}
      query={query}
      label={t("conversations")}
      rowHeights={{ mouse: 4.75, touch: 5.25 }}
      active={active}
      nothing={<NothingHere query={query} isFiltered={isFiltered} active={active} />}
      renderRow={(id, tabIndex) => (
        <ConversationRow id={id} tabIndex={tabIndex} isActive={id === active} query={query} />
      )}
    />
  );
}

interface NothingProps {
  readonly query: ListQuery;
  readonly isFiltered: boolean;
  readonly active: string | undefined;
}

function NothingHere({ query, isFiltered, active }: NothingProps): JSX.Element {
  const { view, words } = query;
  const path = active === undefined ? [view] : [view, active];
  if (words !== undefined) {
    const isNarrow = isFiltered || !isEverywhere(query);
    const widen = (
      <a class="button button-secondary" href={linkTo(path, { q: words })}>
        {t("searchWiden")}
      </a>
    );
    return (
      <EmptyState icon="search" title={t("emptySearch")} actions={isNarrow && widen}>
        {t("emptySearchHint")}
      </EmptyState>
    );
  }
  if (isFiltered) {
    const clear = (
      <a class="button button-secondary" href={linkTo(path)}>
        {t("filterClear")}
      </a>
    );
    return <EmptyState icon="filter" title={t("emptyFiltered")} actions={clear} />;
  }
  const name = query.view[0]?.toUpperCase() + query.view.slice(1);
  return (
    <EmptyState icon="inbox" title={t(`empty${name}` as TextKey)}>
      {t(`empty${name}Hint` as TextKey)}
    </EmptyState>
  );
}
