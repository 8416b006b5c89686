/** Keyboard shortcuts of the page. */
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { recall, remember } from "../local-storage.ts";
import { isComposing } from "./composing.ts";

/** One shortcut. */
export interface Shortcut {
  /**
   * The key, as `KeyboardEvent.key`, with `Ctrl+` in front if Control or Command is held,
   * and `Shift+` in front of a letter or a named key if Shift is held.
   */
  readonly key: string;
  /** What it does, for the list of shortcuts. */
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Whether it runs again while the key is held down. */
  readonly repeats?: boolean;
  /** The field in which it also works. While a person types in another field, none works. */
  readonly field?: RefObject<Element | null>;
}

interface Added extends Shortcut {
  /** The heading under which the list of shortcuts shows it. */
  readonly group: string;
}

/** All shortcuts that work now, in the order in which they were added. */
export const shortcuts = signal<readonly Added[]>([]);

const setting = "single-key-shortcuts";

/** Whether shortcuts of a single key work. Speech input may type such keys by mistake. */
export const singleKeys = signal(recall(setting) !== "off");

export function setSingleKeys(enabled: boolean): void {
  singleKeys.value = enabled;
  remember(setting, enabled ? undefined : "off");
}

/**
 * Adds shortcuts of a part of the page while the component is shown. A later one replaces an
 * earlier one with the same key.
 */
export function useShortcuts(group: string, own: readonly Shortcut[]): void {
  const latest = useRef(own);
  latest.current = own;
  const keys = own.map(({ key }) => key).join(" ");
  // A key may come right after its button is shown, before an effect that waits for the next frame.
  useLayoutEffect(() => {
    const added = latest.current.map((shortcut, index) => ({
      ...shortcut,
      group,
      run: (event: KeyboardEvent) => latest.current[index]?.run(event),
    }));
    shortcuts.value = [...shortcuts.peek(), ...added];
    return () => {
      shortcuts.value = shortcuts.peek().filter((each) => !added.includes(each));
    };
  }, [keys]);
}

const typingFields = "input, textarea, select, [contenteditable]";

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || isComposing(event) || event.altKey) return;
  const { target } = event;
  const isHeld = event.ctrlKey || event.metaKey;
  if (!isHeld && !singleKeys.value && event.key !== "Escape") return;
  // The browser opens a link in another tab.
  if (isHeld && target instanceof Element && target.closest("a[href]") !== null) return;
  const key = isHeld ? `Ctrl+${keyOf(event)}` : keyOf(event);
  const shortcut = shortcuts.value.findLast((each) => each.key === key);
  if (shortcut === undefined) return;
  const field = target instanceof Element ? target.closest(typingFields) : null;
  if (field !== null && field !== shortcut.field?.current) return;
  if (event.repeat && shortcut.repeats !== true) return;
  // An open dialog or menu gets all keys itself. This check comes last, since it searches the
  // document, which takes a while in a long thread.
  if (document.querySelector("dialog[open], [role=menu], [role=listbox].picker-options") !== null) {
    return;
  }
  event.preventDefault();
  shortcut.run(event);
}

/**
 * The key as shortcuts name it. On a keyboard of another script, the shortcuts are on the same keys
 * as on a Latin one. Caps Lock changes nothing.
 */
function keyOf({ key, code, shiftKey }: KeyboardEvent): string {
  if (key.length > 1) return shiftKey ? `Shift+${key}` : key;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  const isOfOtherScript = /[^ -~\p{Script=Latin}]/u.test(key);
  const shown = (isOfOtherScript ? (letter ?? key) : key).toLowerCase();
  // Shift is a part of other characters, such as `?`.
  return shiftKey && /\p{Letter}/u.test(shown) ? `Shift+${shown}` : shown;
}

document.addEventListener("keydown", onKeyDown);
