/** Where the focus goes when the inbox shows something else. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isFocusLost } from "../../shared/browser/index.ts";
import { coversThread } from "./contact/contact-visibility.ts";

/** What the inbox shows. */
interface Shown {
  /** The list that is shown. Undefined if the address names no list. */
  readonly list: "conversations" | "contacts" | undefined;
  /** The conversation or contact that is loaded. */
  readonly loaded: string | undefined;
  /** Whether the inbox shows the contact next to the conversation. */
  readonly hasContact: boolean;
}

/**
 * Takes the focus along when the inbox shows something else. Call it last: the list and what it
 * opens move the focus first, and this moves what they have left. Returns the pane of what is open,
 * which needs a `tabIndex`.
 */
export function useFocus(shown: Shown): RefObject<HTMLElement | null> {
  const { list, loaded, hasContact } = shown;
  const pane = useRef<HTMLElement>(null);
  const before = useRef<Shown>(undefined);
  useLayoutEffect(() => {
    const next = nextFocus(before.current, shown, pane.current);
    before.current = shown;
    next?.focus({ preventScroll: true });
  }, [list, loaded, hasContact]);
  return pane;
}

/** Returns what gets the focus. Without a result, the focus stays where it is. */
function nextFocus(
  before: Shown | undefined,
  { list: name, loaded, hasContact }: Shown,
  pane: HTMLElement | null,
): HTMLElement | null | undefined {
  const { activeElement } = document;
  const isLost = isFocusLost();
  const isNewContact = hasContact && before?.hasContact !== true;
  if (isNewContact && coversThread() && (isLost || pane?.contains(activeElement) === true)) {
    return document.querySelector<HTMLElement>(".contact");
  }
  const list = document.querySelector<HTMLElement>(".list");
  const isListDisplayed = list?.checkVisibility() === true;
  if (before === undefined) {
    // Whoever opens the page begins at its start, or in what covers the list.
    return isLost && loaded !== undefined && !isListDisplayed ? pane : undefined;
  }
  if (loaded === before.loaded && name === before.list) return undefined;
  // The row of what was open before, or the list if no row could take the focus.
  const rowBefore = list?.querySelector(`[data-key="${CSS.escape(before.loaded ?? "")}"] > a`);
  const wasInList = [rowBefore, list].includes(activeElement);
  if (!isLost && !(wasInList && loaded !== undefined)) return undefined;
  const row = list?.querySelector<HTMLElement>("a[aria-current]");
  return isListDisplayed ? (row ?? list) : pane;
}
