import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import {
  ErrorState,
  isFocusLost,
  NewRows,
  Skeleton,
  VirtualList,
} from "../../../shared/browser/index.ts";
import { maxListed, type LiveList } from "../state/live-list.ts";
import { t } from "../texts.ts";

interface ListProps<Row extends { readonly id: string }, Query> {
  readonly list: LiveList<Row, Query>;
  readonly query: Query;
  readonly label: string;
  /** In rem. Fingers need more room than a mouse. */
  readonly rowHeights: { readonly mouse: number; readonly touch: number };
  /** The id of the open row. */
  readonly active: string | undefined;
  /** What is shown if there are no rows. */
  readonly nothing: ComponentChildren;
  readonly renderRow: (id: string, tabIndex: 0 | -1) => ComponentChildren;
}

/** A list that stays up to date. While someone points at it, no row moves. */
export function List<Row extends { readonly id: string }, Query>(
  props: ListProps<Row, Query>,
): JSX.Element {
  const { list, query, label, rowHeights, active, nothing, renderRow } = props;
  const box = useRef<HTMLDivElement>(null);
  // An effect that ran after the next frame would let that frame show the rows of the old query.
  useLayoutEffect(() => void list.show(query), [query]);
  useEffect(() => {
    list.keep(active);
    return () => list.keep(undefined);
  }, [active]);
  useEffect(() => holdWhilePointing(box.current, (isHeld) => list.hold(isHeld)), []);
  const ids = list.ids.value;
  const error = list.error.value;
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
      {list.heldBack.value > 0 && (
        <NewRows onShow={() => list.showHeld()}>
          {t("showNew", { count: list.heldBack.value })}
        </NewRows>
      )}
      {isEmpty && error !== undefined && <ErrorState error={error} onRetry={() => list.retry()} />}
      {isEmpty && error === undefined && list.isLoading.value && <Skeleton rows={7} />}
      {isEmpty && error === undefined && !list.isLoading.value && nothing}
      {!isEmpty && (
        <VirtualList
          label={label}
          items={ids}
          rowHeight={isTouch ? rowHeights.touch : rowHeights.mouse}
          active={active}
          onEnd={list.isLoading.value ? undefined : () => void list.more()}
          renderRow={renderRow}
          footer={<Footer list={list} />}
        />
      )}
    </div>
  );
}

const modifiers: ReadonlySet<string> = new Set(["Alt", "Control", "Meta", "Shift"]);

/**
 * Calls `hold` with true when the mouse moves over the list or a finger touches it. Calls it with
 * false when the mouse or the finger leaves, or when the person presses a key, because the mouse
 * may rest there meanwhile. Returns a function that removes the listeners.
 */
function holdWhilePointing(box: HTMLElement | null, hold: (isHeld: boolean) => void): () => void {
  if (box === null) return () => {};
  const stop = new AbortController();
  const { signal } = stop;
  const set =
    (isHeld: boolean) =>
    ({ pointerType }: PointerEvent): void => {
      if (pointerType === "mouse") hold(isHeld);
    };
  box.addEventListener("pointermove", set(true), { signal });
  box.addEventListener("pointerleave", set(false), { signal });
  box.addEventListener("pointerdown", () => hold(true), { signal });
  window.addEventListener("keydown", ({ key }) => !modifiers.has(key) && hold(false), { signal });
  for (const event of ["pointerup", "pointercancel"]) {
    window.addEventListener(
      event,
      ({ target }) => {
        // The click comes after the pointer is up.
        setTimeout(() => {
          const isOver = box.matches(":hover") && matchMedia("(hover: hover)").matches;
          if (!isOver && target instanceof Node) hold(false);
        }, 50);
      },
      { signal },
    );
  }
  return () => {
    stop.abort();
    // A list that is gone gets no event that the pointer has left it.
    hold(false);
  };
}

interface FooterProps<Row extends { readonly id: string }, Query> {
  readonly list: LiveList<Row, Query>;
}

function Footer<Row extends { readonly id: string }, Query>({
  list,
}: FooterProps<Row, Query>): JSX.Element | null {
  const error = list.error.value;
  if (error !== undefined) return <ErrorState error={error} onRetry={() => list.retry()} />;
  if (list.ids.value.length >= maxListed) {
    return <p class="list-footer muted">{t("listFull", { count: maxListed })}</p>;
  }
  if (list.isCut.value) {
    return <p class="list-footer muted">{t("searchCut", { count: list.ids.value.length })}</p>;
  }
  return list.isComplete.value ? null : (
    <p class="list-footer muted" role="status">
      {t("loadingMore")}
    </p>
  );
}
