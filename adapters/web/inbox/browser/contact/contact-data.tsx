import type { JSX } from "preact";
import type { Contact } from "../../../../../src/index.ts";
import { Button, may, useOpened } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { EraseDialog } from "./erase-dialog.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { Section } from "./section.tsx";

interface ContactDataProps {
  readonly contact: Contact;
  /** Called with the contact after a merge. */
  readonly onChange: (contact: Contact) => void;
}

/** Buttons that merge the contact with another one, or erase it. */
export function ContactData({ contact, onChange }: ContactDataProps): JSX.Element | null {
  const [dialog, setDialog, close] = useOpened<"merge" | "erase">();
  if (!may("contacts:write")) return null;
  return (
    <>
      <Section title={t("dangerZone")}>
        <div class="section-buttons">
          <Button isSmall icon="merge" onClick={() => setDialog("merge")}>
            {t("merge")}
          </Button>
          <Button isSmall icon="trash" onClick={() => setDialog("erase")}>
            {t("erase")}
          </Button>
        </div>
      </Section>
      {dialog === "merge" && <MergeDialog contact={contact} onClose={close} onMerged={onChange} />}
      {dialog === "erase" && <EraseDialog contact={contact} onClose={close} />}
    </>
  );
}
