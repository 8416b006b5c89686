import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import { Button, IconButton, linkTo, may, useShortcuts } from "../../../shared/browser/index.ts";
import { LabelPicker } from "../label-picker.tsx";
import { labelsOfContacts, labelsOfConversations } from "../state/known-labels.ts";
import { changeContactLabel, labelsOf } from "../state/label-changes.ts";
import { t } from "../texts.ts";

interface ContactLabelsProps {
  readonly contact: Contact;
  /** The key that opens the picker. */
  readonly shortcut: string;
  /** Called with the contact after each change. */
  readonly onChange: (contact: Contact) => void;
}

/** The labels of a contact, to follow and to change. */
export function ContactLabels({
  contact,
  shortcut,
  onChange,
}: ContactLabelsProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const canWrite = may("contacts:write");
  const labels = labelsOf(contact);
  const change = (label: string, isAdded: boolean): void =>
    void changeContactLabel(contact.id, { label, isAdded }, onChange);
  useShortcuts(
    t("contact"),
    canWrite ? [{ key: shortcut, label: t("contactLabels"), run: () => setOpen(true) }] : [],
  );
  if (labels.length === 0 && !canWrite) return null;
  return (
    <div class="fact has-labels">
      <dt>{t("labels")}</dt>
      <dd>
        <ul class="fact-labels">
          {labels.map((label) => (
            <li key={label} class="fact-label">
              <LabelLink label={label} />
              {canWrite && (
                <IconButton
                  icon="close"
                  isSmall
                  label={t("contactLabelRemove", { label })}
                  onClick={() => {
                    // This button disappears with its label.
                    button.current?.focus();
                    change(label, false);
                  }}
                />
              )}
            </li>
          ))}
          {canWrite && (
            <li>
              <Button
                kind="quiet"
                isSmall
                icon="plus"
                buttonRef={button}
                aria-expanded={isOpen}
                data-tooltip={t("labelAdd")}
                data-tooltip-key={shortcut}
                onClick={() => setOpen(!isOpen)}
              >
                {t("contactLabelAdd")}
              </Button>
            </li>
          )}
        </ul>
        {isOpen && (
          <LabelPicker
            anchor={button}
            labels={labels}
            propose={() => [...labelsOfContacts(), ...labelsOfConversations()]}
            onChange={change}
            onClose={() => setOpen(false)}
          />
        )}
      </dd>
    </div>
  );
}

/** A label, as a link to the contacts that have it. */
function LabelLink({ label }: { readonly label: string }): JSX.Element {
  return (
    <a href={linkTo(["contacts"], { label })} data-tooltip={t("labelShow", { label })}>
      <bdi class="truncate">{label}</bdi>
    </a>
  );
}
