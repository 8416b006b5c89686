import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isFocusLost } from "../keyboard/focus.ts";
import { Button } from "./button.tsx";

interface VirtualListProps {
  readonly label: string;
  /** The keys of all rows: an array, or anything of which a long list can be read as quickly. */
  readonly items: Pick<readonly string[], "length" | "at" | "indexOf">;
  /** The height of each row, in rem. */
  readonly rowHeight: number;
  /**
   * Draws a row, which is one link. The link takes `tabIndex`: the list is one stop of the Tab key,
   * since nobody could leave a list that grows while they go through it.
   */
  readonly renderRow: (key: string, tabIndex: 0 | -1) => ComponentChildren;
  /** Called when the end is near. Undefined while nothing can be loaded. */
  readonly onEnd?: (() => void) | undefined;
  /** The key of the row that must be in sight. */
  readonly active?: string | undefined;
  /** What stands after the last row. */
  readonly footer?: ComponentChildren;
}

/** How many rows are ready above and below those in sight. */
const overscan = 8;
const nearEnd = 20;

/** How many pixels some rem are. People can change the size of text in the browser. */
const pixels = (rem: number): number =>
  rem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/**
 * A list of any length, of which only the rows in sight and the active one are in the document. All
 * rows have the same height, so the work of a rendering does not grow with the list. The arrow keys
 * go through it.
 */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, items, rowHeight, renderRow, onEnd, active, footer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [inSight, setInSight] = useState<Range>({ first: 0, end: 0 });
  /** The key of the row that last had the focus. */
  const [current, setCurrent] = useState<string>();
  /** The key of the row that gets the focus once it is in the document. */
  const wanted = useRef<string | undefined>(undefined);
  useLayoutEffect(() => watch(scroller.current, rowHeight, setInSight), [rowHeight]);

  const { length } = items;
  const end = Math.min(length, inSight.end + overscan);
  const first = Math.max(0, Math.min(inSight.first, end) - overscan);
  const isNearEnd = length > 0 && end > length - nearEnd;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, length, onEnd === undefined]);
  const activeIndex = active === undefined ? -1 : items.indexOf(active);
  useEffect(() => {
    if (scroller.current !== null && activeIndex !== -1) {
      reveal(scroller.current, activeIndex, pixels(rowHeight));
    }
  }, [active, activeIndex === -1]);

  const currentIndex = current === undefined ? -1 : items.indexOf(current);
  /** Where the row was that last had the focus. */
  const lastIndex = useRef(0);
  const hadFocus = scroller.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (currentIndex !== -1) lastIndex.current = currentIndex;
    else if (hadFocus && isFocusLost()) {
      // Whoever was at a row that has left the list is at the one in its place.
      wanted.current = items.at(Math.min(lastIndex.current, length - 1));
      setCurrent(wanted.current);
    }
  });

  const opened = useRef(active);
  useLayoutEffect(() => {
    // Whoever leaves what a row has opened is at that row again.
    if (active === undefined && opened.current !== undefined && isFocusLost()) {
      wanted.current = items.indexOf(opened.current) === -1 ? items.at(0) : opened.current;
      setCurrent(wanted.current);
    }
    opened.current = active;
  }, [active]);

  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    // The person has gone elsewhere before the row was in the document.
    if (!isFocusLost() && scroller.current?.contains(document.activeElement) !== true) {
      wanted.current = undefined;
      return;
    }
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-key="${CSS.escape(wanted.current)}"] > a`,
    );
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const box = scroller.current;
    const index = current === undefined ? -1 : items.indexOf(current);
    if (box === null || index === -1 || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / pixels(rowHeight)) - 1);
    const target = targetOf(event.key, index, page, length);
    if (target === undefined) return;
    event.preventDefault();
    wanted.current = items.at(Math.max(0, Math.min(length - 1, target)));
    setCurrent(wanted.current);
    reveal(box, Math.max(0, Math.min(length - 1, target)), pixels(rowHeight));
  };
  const isThere = (index: number): boolean => index >= first && index < end;
  const stop = [currentIndex, activeIndex].find(isThere) ?? Math.max(first, inSight.first);

  const indexes = Array.from({ length: end - first }, (_, index) => first + index);
  // The active row is always there, so that it can take and keep the focus.
  if (activeIndex >= end) indexes.push(activeIndex);
  else if (activeIndex !== -1 && activeIndex < first) indexes.unshift(activeIndex);
  const rows: JSX.Element[] = [];
  for (const index of indexes) {
    const key = items.at(index) ?? "";
    rows.push(
      <div
        // A row keeps its element when it moves, and so its focus.
        key={key}
        role="listitem"
        aria-setsize={length}
        aria-posinset={index + 1}
        data-key={key}
        onFocusIn={() => {
          wanted.current = undefined;
          setCurrent(key);
        }}
        class="virtual-row"
        style={{ height: `${rowHeight}rem`, transform: `translateY(${index * rowHeight}rem)` }}
      >
        {renderRow(key, index === stop ? 0 : -1)}
      </div>,
    );
  }
  return (
    <div class="virtual-list" ref={scroller} onKeyDown={onKeyDown}>
      <div
        role="list"
        aria-label={label}
        class="virtual-rows"
        style={{ height: `${length * rowHeight}rem` }}
      >
        {rows}
      </div>
      {footer}
    </div>
  );
}

/** The index of the row that a key leads to. Undefined for all other keys. */
function targetOf(key: string, index: number, page: number, length: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return index + 1;
    case "ArrowUp":
      return index - 1;
    case "PageDown":
      return index + page;
    case "PageUp":
      return index - page;
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return undefined;
  }
}

/** The rows from `first` up to, but not including, `end`. */
interface Range {
  readonly first: number;
  readonly end: number;
}

/** Calls `onChange` with the rows in sight, now and whenever they change. */
function watch(
  scroller: HTMLElement | null,
  rowHeight: number,
  onChange: (update: (before: Range) => Range) => void,
): () => void {
  if (scroller === null) return () => {};
  const measure = (): void => {
    const { scrollTop, clientHeight } = scroller;
    const height = pixels(rowHeight);
    const first = Math.max(0, Math.floor(scrollTop / height));
    const end = Math.ceil((scrollTop + clientHeight) / height);
    onChange((before) => (before.first === first && before.end === end ? before : { first, end }));
  };
  measure();
  const sizes = new ResizeObserver(measure);
  sizes.observe(scroller);
  scroller.addEventListener("scroll", measure, { passive: true });
  return () => {
    sizes.disconnect();
    scroller.removeEventListener("scroll", measure);
  };
}

/** Scrolls as little as shows a row. `height` is in pixels. */
function reveal(scroller: HTMLElement, index: number, height: number): void {
  const { scrollTop, clientHeight } = scroller;
  const top = index * height;
  if (top < scrollTop) scroller.scrollTop = top;
  else if (top + height > scrollTop + clientHeight) {
    scroller.scrollTop = top + height - clientHeight;
  }
}

interface NewRowsProps {
  readonly onShow: () => void;
  /** How many rows wait, in words. */
  readonly children: ComponentChildren;
}

/** A button over a list, for rows that wait so that nothing moves under the pointer. */
export function NewRows({ onShow, children }: NewRowsProps): JSX.Element {
  return (
    <div class="new-rows">
      <Button isSmall kind="primary" onClick={onShow}>
        {children}
      </Button>
    </div>
  );
}
