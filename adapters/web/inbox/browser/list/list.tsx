import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import {
  EmptyState,
  ErrorState,
  isFocusLost,
  linkTo,
  NewRows,
  Skeleton,
  VirtualList,
} from "../../../shared/browser/index.ts";
import { Row } from "./row.tsx";
import { conversations } from "../state/conversations.ts";
import { maxListed } from "../state/live-list.ts";
import { isEverywhere, type ListQuery } from "../state/views.ts";
import { t, type TextKey } from "../texts.ts";

const rowHeight = 4.75;
const rowHeightTouch = 5.25;

interface ListProps {
  readonly query: ListQuery;
  readonly isFiltered: boolean;
  /** The open conversation. */
  readonly active: string | undefined;
  readonly placeQuery: Readonly<Record<string, string | undefined>>;
}

/** The list of conversations. While someone points at it, no row moves. */
export function List({ query, isFiltered, active, placeQuery }: ListProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => holdWhilePointing(box.current), []);
  const ids = conversations.ids.value;
  const error = conversations.error.value;
  const isTouch = matchMedia("(pointer: coarse)").matches;
  const isEmpty = ids.length === 0;
  const hadFocus = box.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    // The last row has left the list.
    if (isEmpty && hadFocus && isFocusLost()) box.current?.focus();
  }, [isEmpty]);
  return (
    <div
      class="list"
      ref={box}
      // Takes the focus where no row is left that could.
      tabIndex={-1}
    >
      {conversations.heldBack.value > 0 && (
        <NewRows onShow={() => conversations.showHeld()}>
          {t("showNew", { count: conversations.heldBack.value })}
        </NewRows>
      )}
      {isEmpty && error !== undefined && (
        <ErrorState error={error} onRetry={() => conversations.retry()} />
      )}
      {isEmpty && error === undefined && conversations.isLoading.value && <Skeleton rows={7} />}
      {isEmpty && error === undefined && !conversations.isLoading.value && (
        <NothingHere query={query} isFiltered={isFiltered} active={active} />
      )}
      {!isEmpty && (
        <VirtualList
          label={t("conversations")}
          items={ids}
          rowHeight={isTouch ? rowHeightTouch : rowHeight}
          active={active}
          onEnd={() => void conversations.more()}
          renderRow={(id, tabIndex) => (
            <Row
              id={id}
              tabIndex={tabIndex}
              isActive={id === active}
              query={query}
              placeQuery={placeQuery}
            />
          )}
          footer={<Footer />}
        />
      )}
    </div>
  );
}

/**
 * Holds the order of the rows while the mouse is over the list, or while a finger touches it.
 * Returns a function that ends this.
 */
function holdWhilePointing(box: HTMLElement | null): () => void {
  if (box === null) return () => {};
  const stop = new AbortController();
  const { signal } = stop;
  const hold = ({ pointerType }: PointerEvent): void => {
    if (pointerType === "mouse") conversations.hold(true);
  };
  const release = ({ pointerType }: PointerEvent): void => {
    if (pointerType === "mouse") conversations.hold(false);
  };
  box.addEventListener("pointerenter", hold, { signal });
  box.addEventListener("pointerleave", release, { signal });
  box.addEventListener("pointerdown", () => conversations.hold(true), { signal });
  for (const event of ["pointerup", "pointercancel"]) {
    window.addEventListener(
      event,
      ({ target }) => {
        // The click comes after the pointer is up.
        setTimeout(() => {
          const isOver = box.matches(":hover") && matchMedia("(hover: hover)").matches;
          if (!isOver && target instanceof Node) conversations.hold(false);
        }, 50);
      },
      { signal },
    );
  }
  return () => {
    stop.abort();
    // A list that is gone gets no event that the pointer has left it.
    conversations.hold(false);
  };
}

function Footer(): JSX.Element | null {
  const error = conversations.error.value;
  if (error !== undefined) {
    return <ErrorState error={error} onRetry={() => conversations.retry()} />;
  }
  if (conversations.ids.value.length >= maxListed) {
    return <p class="list-footer muted">{t("listFull", { count: maxListed })}</p>;
  }
  if (conversations.isCut.value) {
    return (
      <p class="list-footer muted">{t("searchCut", { count: conversations.ids.value.length })}</p>
    );
  }
  return conversations.isComplete.value ? null : (
    <p class="list-footer muted" role="status">
      {t("loadingMore")}
    </p>
  );
}

interface NothingProps {
  readonly query: ListQuery;
  readonly isFiltered: boolean;
  readonly active: string | undefined;
}

function NothingHere({ query, isFiltered, active }: NothingProps): JSX.Element {
  const { view, words } = query;
  if (words !== undefined) {
    const isNarrow = isFiltered || !isEverywhere(query);
    const path = active === undefined ? [view] : [view, active];
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
  if (isFiltered) return <EmptyState icon="filter" title={t("emptyFiltered")} />;
  const name = query.view[0]?.toUpperCase() + query.view.slice(1);
  return (
    <EmptyState icon="inbox" title={t(`empty${name}` as TextKey)}>
      {t(`empty${name}Hint` as TextKey)}
    </EmptyState>
  );
}
