import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Whether the focus is nowhere, or on what is not displayed. */
export function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || !activeElement.checkVisibility();
}

/**
 * Gives the focus to the pane of what is open where it takes the place of the list, as on a phone.
 * `VirtualList` takes it back. Returns the pane, which needs a `tabIndex`.
 */
export function useFocusOfOpen(
  open: string | undefined,
  list: string,
): RefObject<HTMLElement | null> {
  const pane = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const isListShown = document.querySelector(list)?.checkVisibility() === true;
    if (open !== undefined && !isListShown && isFocusLost()) pane.current?.focus();
  }, [open]);
  return pane;
}
