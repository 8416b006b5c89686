import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Whether the focus is nowhere, or on what is not displayed. */
export function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || !activeElement.checkVisibility();
}

/**
 * Returns the ref of an element that may leave the page while it has the focus. The focus then goes
 * to what encloses the element and can have it. Without that, Tab would begin again at the start of
 * the page.
 */
export function useFocusPassedOn<Node extends HTMLElement>(): RefObject<Node | null> {
  const element = useRef<Node | null>(null);
  useLayoutEffect(() => {
    const { current } = element;
    // The element is still in the document when this runs.
    return () => {
      if (current === null || current !== document.activeElement) return;
      const around = current.parentElement?.closest<HTMLElement>("[tabindex], dialog");
      // In a dialog, the browser begins with the first button.
      const next = around?.localName === "dialog" ? around.querySelector("button") : around;
      next?.focus({ preventScroll: true });
    };
  }, []);
  return element;
}
