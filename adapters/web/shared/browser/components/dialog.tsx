import type { ComponentChildren, JSX, Ref, RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isComposing } from "../keyboard/composing.ts";
import { text } from "../texts/shared-texts.ts";
import { Button, IconButton } from "./button.tsx";
import { DiscardQuestion, useLeaveGuard } from "./discard-question.tsx";
import { useEntries } from "./entries.ts";

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
  /** Closes without a question whatever a person entered, such as only a confirming word. */
  readonly isDisposable?: boolean;
  /** Shows what the person cannot see again. Only its own buttons close it. */
  readonly isShownOnce?: boolean;
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

/**
 * A modal dialog. The browser keeps the focus inside. Escape, a click beside it and its close
 * button close it. If a person has changed its form, they first ask, as Back and Reload do. The
 * button to cancel does not.
 */
export function Dialog(props: DialogProps): JSX.Element {
  const {
    title,
    onClose,
    children,
    actions,
    isWide,
    onSubmit,
    isDisposable,
    isShownOnce,
    bodyRef = null,
  } = props;
  const dialog = useModal();
  const entries = useEntries();
  /** What the person wants to do, and is asked about. */
  const [asked, setAsked] = useState<"close" | "leave">();
  const isPressedBeside = useRef(false);
  const id = useId();
  const isForm = onSubmit !== undefined && actions !== undefined;
  const isAtRisk = (): boolean =>
    isShownOnce === true || (isForm && isDisposable !== true && entries.haveChanged());
  const ask = (wish: "close" | "leave"): void => {
    if (isShownOnce !== true) setAsked(wish);
  };
  useLeaveGuard({ isAtRisk, ask: () => ask("leave") });
  const keep = (): void => {
    setAsked(undefined);
    entries.goOn();
  };
  const dismiss = (): void => {
    if (asked !== undefined) keep();
    else if (isAtRisk()) ask("close");
    else onClose();
  };
  const discard = (): void => {
    onClose();
    if (asked === "leave") history.back();
  };
  const content = (
    <>
      <header class="dialog-header">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <IconButton
          icon="close"
          label={text("close")}
          onClick={isShownOnce === true ? onClose : dismiss}
        />
      </header>
      <div
        class="dialog-body"
        ref={bodyRef}
        onFocusIn={({ target }) => {
          entries.enter(target);
          setAsked(undefined);
        }}
      >
        {children}
      </div>
      {actions !== undefined && (
        <footer class="dialog-actions">
          {asked !== undefined ? (
            <DiscardQuestion onKeep={keep} onDiscard={discard} />
          ) : (
            <>
              {onSubmit !== undefined && <Button onClick={onClose}>{text("cancel")}</Button>}
              {actions}
            </>
          )}
        </footer>
      )}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={isWide === true ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      // Chromium lets a page cancel only the first of two such keys in a row.
      onKeyDown={(event) => {
        if (event.key !== "Escape" || isComposing(event)) return;
        event.preventDefault();
        // A held key would ask, take the question back, and ask again.
        if (!event.repeat) dismiss();
      }}
      onCancel={(event) => {
        event.preventDefault();
        dismiss();
      }}
      // A press on the dialog itself is one on its backdrop, since its content covers it.
      onPointerDown={({ target, currentTarget }) => {
        isPressedBeside.current = target === currentTarget;
      }}
      // At the press it would be too early: a finger would then click what is below the dialog.
      onClick={({ target, currentTarget }) => {
        // Who selects text may let go beside the dialog.
        if (isPressedBeside.current && target === currentTarget) dismiss();
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
