import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button, Dialog, TextField, timeNow } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

interface TimeDialogProps {
  readonly title: string;
  /** The name of the field. */
  readonly label: string;
  /** What the button does. */
  readonly confirm: string;
  /** Gets a later time than now. */
  readonly onPick: (at: Date) => void;
  readonly onClose: () => void;
}

/** Asks for a later date and time. */
export function TimeDialog(props: TimeDialogProps): JSX.Element {
  const { title, label, confirm, onPick, onClose } = props;
  const [at, setAt] = useState("");
  const isLater = Date.parse(at) > timeNow();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        onPick(new Date(at));
        onClose();
      }}
      actions={
        <Button kind="primary" type="submit" disabled={!isLater}>
          {confirm}
        </Button>
      }
    >
      <TextField
        label={label}
        type="datetime-local"
        value={at}
        problem={at === "" || isLater ? undefined : t("timePast")}
        onChange={setAt}
      />
    </Dialog>
  );
}
