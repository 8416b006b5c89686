import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import {
  ActionDialog,
  Button,
  CopyButton,
  Dialog,
  Icon,
  newKey,
  Select,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string | null;
  readonly hint: string;
  readonly onClose: () => void;
}

/** Shows a secret that the server never returns again. Only its buttons close it. */
export function SecretDialog({ title, secret, hint, onClose }: SecretDialogProps): JSX.Element {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isShownOnce={secret !== null}
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
        <>
          <div class="secret">
            <code class="grow">{secret}</code>
            <CopyButton value={secret} label={t("secretCopy")} />
          </div>
          <p class="notice tone-warn">
            <Icon name="key" />
            {t("secretOnce")}
          </p>
        </>
      )}
    </Dialog>
  );
}

interface RotateDialogProps {
  readonly onClose: () => void;
  /** Gets the body of the request, and its idempotency key: a repetition rotates once. */
  readonly onConfirm: (
    body: { readonly grace_seconds: number },
    options: { readonly key: string },
  ) => Promise<void>;
}

/** Asks for how long the old secret stays valid. */
export function RotateDialog({ onClose, onConfirm }: RotateDialogProps): JSX.Element {
  const [grace, setGrace] = useState("86400");
  const key = useMemo(newKey, [grace]);
  return (
    <ActionDialog
      title={t("rotateTitle")}
      confirm={t("rotate")}
      onClose={onClose}
      onConfirm={() => onConfirm({ grace_seconds: Number(grace) }, { key })}
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
