import type { ComponentChildren, JSX, Ref, RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { text } from "../texts/shared-texts.ts";
import { Button, IconButton } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** The buttons at its end. */
  readonly actions?: ComponentChildren;
  readonly isWide?: boolean;
  /**
   * Makes the dialog a form, which can be canceled: Enter in a field presses its button of the type
   * `submit`.
   */
  readonly onSubmit?: () => void;
  readonly bodyRef?: Ref<HTMLDivElement>;
}

/** The field that a person fills in first. A checkbox is no reason to open a dialog. */
const firstField = ".dialog-body :is(input:not([type=checkbox]), textarea, select):enabled";

/** Opens an element as a modal dialog while it is shown. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // The browser gives the focus to the first button, which closes the dialog.
    element?.querySelector<HTMLElement>(firstField)?.focus();
    return () => {
      // Until the dialog is closed, the rest of the page cannot have the focus.
      element?.close();
      const { activeElement } = document;
      if (!(activeElement instanceof HTMLElement)) return;
      // Chromium has given the focus back, but to a field without its caret.
      activeElement.blur();
      activeElement.focus({ preventScroll: true });
    };
  }, []);
  return dialog;
}

/** A modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog(props: DialogProps): JSX.Element {
  const { title, onClose, children, actions, isWide, onSubmit, bodyRef = null } = props;
  const dialog = useModal();
  const id = useId();
  const content = (
    <>
      <header class="dialog-header">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <IconButton icon="close" label={text("close")} onClick={onClose} />
      </header>
      <div class="dialog-body" ref={bodyRef}>
        {children}
      </div>
      {actions !== undefined && (
        <footer class="dialog-actions">
          {onSubmit !== undefined && <Button onClick={onClose}>{text("cancel")}</Button>}
          {actions}
        </footer>
      )}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={isWide === true ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A click on the dialog itself is one on its backdrop, since its content covers it.
      onPointerDown={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
    >
      {onSubmit === undefined ? (
        <div class="dialog-content">{content}</div>
      ) : (
        <form
          class="dialog-content"
          // The page says itself what is wrong.
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}
