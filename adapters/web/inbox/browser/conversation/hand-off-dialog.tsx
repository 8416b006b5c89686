import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ActionDialog, TextArea, TextField } from "../../../shared/browser/index.ts";
import { handOff } from "../state/actions.ts";
import { t } from "../texts.ts";

interface HandOffDialogProps {
  /** The id of the conversation. */
  readonly id: string;
  readonly onClose: () => void;
}

/** Asks why a person must take over. */
export function HandOffDialog({ id, onClose }: HandOffDialogProps): JSX.Element {
  const [reason, setReason] = useState("");
  const [summary, setSummary] = useState("");
  return (
    <ActionDialog
      title={t("handOff")}
      confirm={t("handOff")}
      canConfirm={reason.trim() !== ""}
      onClose={onClose}
      onConfirm={async () => {
        if (await handOff(id, reason.trim(), summary.trim())) onClose();
      }}
    >
      <TextField label={t("handOffReason")} maxLength={200} value={reason} onChange={setReason} />
      <TextArea
        label={t("handOffSummary")}
        isOptional
        rows={4}
        maxLength={2000}
        value={summary}
        onChange={setSummary}
      />
    </ActionDialog>
  );
}
