import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { explain } from "../connection/problem.ts";
import { keyNames } from "../keyboard/key-names.ts";
import { useShortcuts } from "../keyboard/shortcuts.ts";
import { text } from "../texts/shared-texts.ts";
import { Button, IconButton } from "./button.tsx";
import { Icon } from "./icons.tsx";

/** A short message over the page. */
export interface Toast {
  readonly message: string;
  /** An error stays until it is dismissed. */
  readonly isError?: boolean;
  readonly action?: {
    readonly label: string;
    /** A key that does the same while the message is shown. Only that of the newest one works. */
    readonly shortcut?: string;
    readonly run: () => void;
  };
}

const maxShown = 4;
const shownMs = 6000;
let next = 0;
interface ShownToast extends Toast {
  readonly id: number;
}
const shown = signal<readonly ShownToast[]>([]);

const dismiss = (id: number): void => {
  shown.value = shown.value.filter((each) => each.id !== id);
};

function act({ id, action }: ShownToast): void {
  dismiss(id);
  action?.run();
}

/**
 * Shows a message. It replaces an earlier one with the same text, unless that one has a shortcut:
 * each shortcut undoes another action.
 */
export function toast(given: Toast): void {
  next += 1;
  const id = next;
  const others = shown.value.filter(
    ({ message, action }) => message !== given.message || action?.shortcut !== undefined,
  );
  shown.value = [...others, { ...given, id }].slice(-maxShown);
  if (given.isError !== true) dismissLater(id);
}

/** It waits while the person points at a message, or has the focus in one. */
function dismissLater(id: number): void {
  setTimeout(() => {
    const isUsed = document.querySelector(".toasts:is(:hover, :focus-within)") !== null;
    if (isUsed) dismissLater(id);
    else dismiss(id);
  }, shownMs);
}

/** Shows why something failed. */
export const toastError = (error: unknown): void =>
  toast({ message: explain(error), isError: true });

/** The place where messages appear. Each page has one. */
export function Toasts(): JSX.Element {
  const toasts = shown.value;
  const box = useRef<HTMLDivElement>(null);
  const keyed = toasts.findLast(({ action }) => action?.shortcut !== undefined);
  const { label = "", shortcut: key } = keyed?.action ?? {};
  useShortcuts(
    text("shortcutsGeneral"),
    keyed === undefined || key === undefined ? [] : [{ key, label, run: () => act(keyed) }],
  );
  useLayoutEffect(() => {
    // What is shown last lies above all open dialogs.
    if (toasts.length > 0) box.current?.hidePopover();
    box.current?.showPopover();
  }, [toasts]);
  return (
    <div ref={box} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.map((each) => (
        <ToastView key={each.id} toast={each} shortcut={each === keyed ? key : undefined} />
      ))}
    </div>
  );
}

interface ToastViewProps {
  readonly toast: ShownToast;
  /** The key of its action. Undefined while a newer message has a key. */
  readonly shortcut: string | undefined;
}

function ToastView({ toast, shortcut }: ToastViewProps): JSX.Element {
  const { id, message, isError, action } = toast;
  return (
    <div class={isError === true ? "toast is-error" : "toast"}>
      <Icon name={isError === true ? "alert" : "check"} />
      <span class="grow pre-line">{message}</span>
      {action && (
        <Button isSmall aria-keyshortcuts={shortcut} onClick={() => act(toast)}>
          {action.label}{" "}
          {shortcut !== undefined && (
            <kbd class="hide-on-touch" aria-hidden="true">
              {keyNames(shortcut)}
            </kbd>
          )}
        </Button>
      )}
      <IconButton icon="close" isSmall label={text("dismiss")} onClick={() => dismiss(id)} />
    </div>
  );
}
