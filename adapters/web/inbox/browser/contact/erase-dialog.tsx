import type { JSX } from "preact";
import type { Contact } from "../../../../../src/index.ts";
import { ActionDialog, api } from "../../../shared/browser/index.ts";
import { removeErased } from "../state/erasure.ts";
import { t } from "../texts.ts";
import { contactName } from "../words.ts";

interface EraseProps {
  readonly contact: Contact;
  readonly onClose: () => void;
}

/** Erases the contact after a typed confirmation. */
export function EraseDialog({ contact, onClose }: EraseProps): JSX.Element {
  return (
    <ActionDialog
      title={t("eraseTitle", { name: contactName(contact) })}
      confirm={t("eraseButton")}
      kind="danger"
      word={t("eraseWord")}
      onClose={onClose}
      onConfirm={async (key) => {
        await api.delete(`v1/contacts/${contact.id}`, { key });
        onClose();
        removeErased(contact.id);
      }}
    >
      <p>{t("eraseWarning")}</p>
    </ActionDialog>
  );
}
