/** The actions on a conversation that ask for more. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button, Dialog, TextArea, TextField } from "../../../shared/browser/index.ts";
import { handOff, snooze } from "../state/actions.ts";
import { t } from "../texts.ts";

interface DialogProps {
  /** The id of the conversation. */
  readonly id: string;
  readonly onClose: () => void;
}

/** Asks until when to snooze. */
export function SnoozeDialog({ id, onClose }: DialogProps): JSX.Element {
  const [at, setAt] = useState("");
  const isLater = Date.parse(at) > Date.now();
  return (
    <Dialog
      title={t("snoozeUntil")}
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          disabled={!isLater}
          onClick={() => {
            void snooze(id, new Date(at).toISOString());
            onClose();
          }}
        >
          {t("snooze")}
        </Button>
      }
    >
      <TextField
        label={t("snoozeCustom")}
        type="datetime-local"
        value={at}
        onInput={({ currentTarget }) => setAt(currentTarget.value)}
      />
    </Dialog>
  );
}

/** Asks why a person must take over. */
export function HandOffDialog({ id, onClose }: DialogProps): JSX.Element {
  const [reason, setReason] = useState("");
  const [summary, setSummary] = useState("");
  const submit = async (): Promise<void> => {
    if (await handOff(id, reason.trim(), summary.trim())) onClose();
  };
  return (
    <Dialog
      title={t("handOff")}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={reason.trim() === ""} onClick={() => void submit()}>
          {t("handOff")}
        </Button>
      }
    >
      <TextField
        label={t("handOffReason")}
        maxLength={200}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <TextArea
        label={t("handOffSummary")}
        isOptional
        rows={4}
        maxLength={2000}
        value={summary}
        onInput={({ currentTarget }) => setSummary(currentTarget.value)}
      />
    </Dialog>
  );
}
