import type { JSX } from "preact";
import type { Contact as Person } from "../../../../../src/index.ts";
import {
  Avatar,
  ConsentBadge,
  date,
  IconButton,
  LoadState,
} from "../../../shared/browser/index.ts";
import { contacts } from "../state/contacts.ts";
import { conversation } from "../state/conversations.ts";
import { t } from "../texts.ts";
import { contactName } from "../words.ts";
import { ConsentSection } from "./consent.tsx";
import { ContactConversations } from "./contact-conversations.tsx";
import { ContactData } from "./contact-data.tsx";
import { ContactDetails } from "./contact-details.tsx";
import { showContact } from "./contact-visibility.ts";
import { Observations } from "./observations.tsx";
import { useContactResource } from "./section.tsx";
import { Sentiment } from "./sentiment.tsx";

/** The contact of the open conversation. */
export function Contact({ id }: { readonly id: string }): JSX.Element | null {
  const row = conversation(id);
  if (row === undefined) return null;
  return <ContactOf key={row.contact.id} id={row.contact.id} conversationId={id} />;
}

interface ContactOfProps {
  readonly id: string;
  readonly conversationId: string;
}

function ContactOf({ id, conversationId }: ContactOfProps): JSX.Element {
  const contact = useContactResource(id, (signal) => contacts.fetch(id, signal));
  // The contact may have been loaded before. It is then shown while it is read again.
  const row = contacts.row(id);
  const change = (next: Person): void => {
    contacts.put(next);
    // An event that came before this answer may be newer.
    void contact.reload();
  };
  return (
    <aside class="contact" aria-label={t("contact")} tabIndex={-1}>
      <header class="contact-header">
        <h2 class="grow">{t("contact")}</h2>
        <IconButton
          icon="close"
          label={t("hideContact")}
          shortcut="c"
          onClick={() => showContact(false)}
        />
      </header>
      {row === undefined ? (
        <LoadState of={contact} rows={4} />
      ) : (
        <div class="contact-sections">
          <Head contact={row} />
          <ContactDetails contact={row} labelShortcut="Shift+l" onChange={change} />
          <ConsentSection contact={row} />
          <Sentiment contact={row} />
          <Observations id={id} conversationId={conversationId} />
          <ContactConversations id={id} beside={conversationId} />
          <ContactData contact={row} onChange={change} />
        </div>
      )}
    </aside>
  );
}

function Head({ contact }: { readonly contact: Person }): JSX.Element {
  const name = contactName(contact);
  return (
    <div class="contact-head">
      <Avatar name={name} seed={contact.id} size="large" />
      <div class="grow">
        <p class="contact-name">
          <bdi>{name}</bdi> {contact.opted_out && <ConsentBadge status="opted_out" />}
        </p>
        <p class="muted">{t("contactSince", { time: date(contact.created_at) })}</p>
      </div>
    </div>
  );
}
