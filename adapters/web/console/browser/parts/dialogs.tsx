import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  ApiError,
  Button,
  type ButtonKind,
  CopyButton,
  Dialog,
  explain,
  Icon,
  Select,
  TextField,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

interface ActionDialogProps {
  readonly title: string;
  readonly confirm: string;
  readonly kind?: ButtonKind;
  readonly isWide?: boolean;
  readonly canConfirm?: boolean;
  /** A word that the person must type before an action that cannot be undone. */
  readonly word?: string;
  /** Does it. A rejection is shown in the dialog, which stays open. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren | ((problemOf: ProblemOf) => ComponentChildren);
}

/** Returns the problem of one field of the request, by its JSON pointer. */
export type ProblemOf = (pointer: string) => string | undefined;

/** A dialog that does something when it is confirmed. */
export function ActionDialog(props: ActionDialogProps): JSX.Element {
  const { title, confirm, kind = "primary", isWide, canConfirm = true, word } = props;
  const { onConfirm, onClose, children } = props;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState("");
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const [body, isPlaced] = placeProblems(children, error);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const isReady = canConfirm && (word === undefined || typed.trim() === word);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isWide={isWide === true}
      actions={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind={kind} isBusy={isBusy} disabled={!isReady} onClick={() => void run()}>
            {confirm}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        class="form"
        // The server says what is wrong, also if the button is pressed.
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isBusy) void run();
        }}
      >
        {body}
        {word !== undefined && (
          <TextField
            label={t("typeToConfirm", { word })}
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
        {/* Enter in a field sends the form. */}
        <button type="submit" hidden />
      </form>
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

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string | null;
  readonly hint: string;
  readonly onClose: () => void;
}

/** Shows a secret, which the server never tells again. */
export function SecretDialog({ title, secret, hint, onClose }: SecretDialogProps): JSX.Element {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t("secretDone")}
        </Button>
      }
    >
      <p>{hint}</p>
      {secret === null ? (
        <p class="notice tone-warn">
          <Icon name="alert" />
          {t("secretGone")}
        </p>
      ) : (
        <div class="secret">
          <code class="grow">{secret}</code>
          <CopyButton value={secret} label={t("secretCopy")} />
        </div>
      )}
      <p class="notice tone-warn">
        <Icon name="key" />
        {t("secretOnce")}
      </p>
    </Dialog>
  );
}

interface RotateDialogProps {
  readonly onClose: () => void;
  readonly onConfirm: (graceSeconds: number) => Promise<void>;
}

/** Asks for how long the old secret stays valid. */
export function RotateDialog({ onClose, onConfirm }: RotateDialogProps): JSX.Element {
  const [grace, setGrace] = useState("86400");
  return (
    <ActionDialog
      title={t("rotateTitle")}
      confirm={t("rotate")}
      onClose={onClose}
      onConfirm={() => onConfirm(Number(grace))}
    >
      <p>{t("rotateHint")}</p>
      <Select
        label={t("rotateGrace")}
        value={grace}
        options={[
          { value: "0", label: t("graceNone") },
          { value: "3600", label: t("graceHour") },
          { value: "86400", label: t("graceDay") },
          { value: "604800", label: t("graceWeek") },
        ]}
        onChange={setGrace}
      />
    </ActionDialog>
  );
}
