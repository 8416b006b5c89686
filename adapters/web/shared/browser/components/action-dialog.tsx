import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { newKey } from "../connection/idempotency-keys.ts";
import { ApiError, explain } from "../connection/problem.ts";
import { text } from "../texts/shared-texts.ts";
import { Button, type ButtonKind } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Icon } from "./icons.tsx";

interface ActionDialogProps {
  readonly title: string;
  readonly confirm: string;
  readonly kind?: ButtonKind;
  readonly canConfirm?: boolean;
  /** A word that the person must type before an action that cannot be undone. */
  readonly word?: string;
  /**
   * Performs the action. A rejection is shown in the dialog, which stays open. The idempotency key
   * is the same at each try, so that an action whose answer was lost is not done again.
   */
  readonly onConfirm: (key: string) => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren | ((problemOf: ProblemOf) => ComponentChildren);
}

/** Returns the problem of one field of the request, by its JSON pointer. */
type ProblemOf = (pointer: string) => string | undefined;

/** A dialog that does something when it is confirmed. */
export function ActionDialog(props: ActionDialogProps): JSX.Element {
  const { title, confirm, kind = "primary", canConfirm = true, word } = props;
  const { onConfirm, onClose, children } = props;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const [key] = useState(newKey);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm(key);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const [content, isPlaced] = placeProblems(children, error);
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    body.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const isReady = canConfirm && (word === undefined || typed.trim() === word);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void run()}
      isDisposable={word !== undefined}
      bodyRef={body}
      actions={
        <Button kind={kind} type="submit" isBusy={isBusy} disabled={!isReady}>
          {confirm}
        </Button>
      }
    >
      {content}
      {word !== undefined && (
        <TextField
          label={text("typeToConfirm", { word })}
          autocomplete="off"
          value={typed}
          onChange={setTyped}
        />
      )}
      {error !== undefined && !isPlaced && (
        <p class="notice tone-bad" role="alert">
          <Icon name="alert" />
          <span class="pre-line">{explain(error)}</span>
        </p>
      )}
    </Dialog>
  );
}

/** Draws the content. Also returns whether its fields show everything that is wrong. */
function placeProblems(
  children: ActionDialogProps["children"],
  error: unknown,
): [content: ComponentChildren, isPlaced: boolean] {
  if (typeof children !== "function") return [children, false];
  if (!(error instanceof ApiError)) return [children(() => undefined), false];
  const shown = new Set<string>();
  const problemOf: ProblemOf = (pointer) => {
    shown.add(pointer);
    return error.field(pointer);
  };
  return [children(problemOf), error.isOnlyAbout(shown)];
}
