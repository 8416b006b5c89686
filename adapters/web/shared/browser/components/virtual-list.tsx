import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";

interface VirtualListProps {
  readonly label: string;
  /** The keys of all rows. */
  readonly items: readonly string[];
  /** The height of each row, in pixels. */
  readonly rowHeight: number;
  readonly renderRow: (key: string, index: number) => ComponentChildren;
  /** Called when the end is near. */
  readonly onEnd?: () => void;
  /** The key of the row that must be in sight. */
  readonly active?: string | undefined;
  /** What stands after the last row. */
  readonly footer?: ComponentChildren;
}

const overscan = 8;
const nearEnd = 20;

/** A list of any length, of which only the rows in sight are in the document. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, items, rowHeight, renderRow, onEnd, active, footer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [, render] = useState(0);
  // With keys of its own, the virtualizer would measure all rows again at each rendering.
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render((count) => count + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [rowHeight]);

  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const isNearEnd = items.length > 0 && last >= items.length - nearEnd;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, items.length]);
  useEffect(() => {
    const index = active === undefined ? -1 : items.indexOf(active);
    if (index !== -1) virtualizer.scrollToIndex(index, { align: "auto" });
  }, [active]);

  return (
    <div class="virtual-list" ref={scroller}>
      <div
        role="list"
        aria-label={label}
        class="virtual-rows"
        style={{ height: `${virtualizer.getTotalSize()}px` }}
      >
        {rows.map(({ index, start }) => (
          <div
            // A row keeps its element when it moves, and so its focus.
            key={items[index]}
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ height: `${rowHeight}px`, transform: `translateY(${start}px)` }}
          >
            {renderRow(items[index] ?? "", index)}
          </div>
        ))}
      </div>
      {footer}
    </div>
  );
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
