import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import { api, Button, Dialog, explain, newKey, TextField } from "../../../shared/browser/index.ts";
import { removeErased } from "../state/erasure.ts";
import { t } from "../texts.ts";
import { contactName } from "../words.ts";

interface EraseProps {
  readonly contact: Contact;
  readonly onClose: () => void;
}

/** Erases the contact after a typed confirmation. */
export function EraseDialog({ contact, onClose }: EraseProps): JSX.Element {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [key] = useState(newKey);
  const word = t("eraseWord");
  const erase = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.delete(`v1/contacts/${contact.id}`, { key });
      onClose();
      removeErased(contact.id);
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("eraseTitle", { name: contactName(contact) })}
      onClose={onClose}
      onSubmit={() => void erase()}
      actions={
        <Button kind="danger" type="submit" isBusy={isBusy} disabled={typed !== word}>
          {t("eraseButton")}
        </Button>
      }
    >
      <p>{t("eraseWarning")}</p>
      <TextField
        label={t("eraseConfirm", { word })}
        autocomplete="off"
        value={typed}
        problem={problem}
        onChange={setTyped}
      />
    </Dialog>
  );
}
