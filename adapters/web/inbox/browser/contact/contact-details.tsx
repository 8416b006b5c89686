import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  CopyButton,
  IconButton,
  may,
  shownAddress,
  timeIn,
} from "../../../shared/browser/index.ts";
import { contactEdits } from "../state/drafts.ts";
import { now } from "../state/now.ts";
import { t } from "../texts.ts";
import { ContactForm } from "./contact-form.tsx";
import { ContactLabels } from "./contact-labels.tsx";
import { Section } from "./section.tsx";

interface DetailsProps {
  readonly contact: Contact;
  readonly onChange: (contact: Contact) => void;
  /** The key that opens the picker of its labels. */
  readonly labelShortcut: string;
}

/** A name, its value, and a note that is shown below the value. */
type Fact = readonly [name: string, value: unknown, note?: string | undefined];

/** The contact's data and attributes, to read and to edit. */
export function ContactDetails({ contact, onChange, labelShortcut }: DetailsProps): JSX.Element {
  const edit = contactEdits.of(contact.id).value;
  const button = useRef<HTMLButtonElement>(null);
  const isEdited = edit !== null && may("contacts:write");
  const wasEdited = useRef(isEdited);
  useLayoutEffect(() => {
    // The form and its button are gone, and the focus with them.
    const isLost = document.activeElement === document.body;
    if (wasEdited.current && !isEdited && isLost) button.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  // An edit of an earlier visit does not take the focus.
  if (isEdited) {
    const isNew = !wasEdited.current;
    return <ContactForm contact={contact} onChange={onChange} edit={edit} isNew={isNew} />;
  }
  const zone = contact.time_zone;
  const there = zone === null ? undefined : timeIn(zone, now.value);
  const facts: readonly Fact[] = [
    [t("contactPhone"), contact.phone && shownAddress(contact.phone)],
    [t("contactEmail"), contact.email],
    [t("contactLanguage"), contact.language],
    [t("contactTimeZone"), zone, there && t("contactTimeNow", { time: there })],
    ...Object.entries(contact.attributes),
  ];
  const known = facts.filter(([, value]) => value !== null && value !== "");
  return (
    <Section
      title={t("details")}
      action={
        may("contacts:write") && (
          <IconButton
            icon="edit"
            isSmall
            buttonRef={button}
            label={t("edit")}
            onClick={() => contactEdits.set(contact.id, { fields: {} })}
          />
        )
      }
    >
      {known.length === 0 && contact.labels.length === 0 && (
        <p class="muted">{t("contactUnknown")}</p>
      )}
      <dl class="facts">
        <ContactLabels contact={contact} shortcut={labelShortcut} onChange={onChange} />
        {known.map(([name, value, note]) => (
          <div key={name} class="fact">
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi class="grow">
                <Breakable>{String(value)}</Breakable>
                {note !== undefined && <span class="fact-note muted">{note}</span>}
              </bdi>
              <CopyButton value={String(value)} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** Breaks an email address before its domain, rather than within a word. */
function Breakable({ children }: { readonly children: string }): JSX.Element {
  const [start, ...rest] = children.split("@");
  return rest.length !== 1 ? (
    <>{children}</>
  ) : (
    <>
      {start}
      <wbr />@{rest}
    </>
  );
}
