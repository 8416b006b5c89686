import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  Button,
  ConsentBadge,
  date,
  go,
  linkTo,
  placeNow,
  toast,
  useAction,
} from "../../../shared/browser/index.ts";
import { beginConversation, isReachable, mayBegin, showReply } from "../conversation/begin.ts";
import { NotShown } from "../not-shown.tsx";
import { PaneHeader } from "../pane-header.tsx";
import { contacts, noteContact } from "../state/contacts.ts";
import { t } from "../texts.ts";
import { contactName } from "../words.ts";
import { ConsentSection } from "./consent.tsx";
import { ContactConversations } from "./contact-conversations.tsx";
import { ContactData } from "./contact-data.tsx";
import { ContactDetails } from "./contact-details.tsx";
import { Observations } from "./observations.tsx";
import { useContactResource } from "./section.tsx";
import { Sentiment } from "./sentiment.tsx";

interface ContactPageProps {
  readonly id: string;
  /** The address of the list. */
  readonly back: string;
}

/** The contact that is open in the list of contacts. */
export function ContactPage({ id, back }: ContactPageProps): JSX.Element {
  const loading = useContactResource(id, (signal) => contacts.fetch(id, signal));
  const { data } = loading;
  const row = contacts.row(id);
  const survivor = data?.merged_into ?? undefined;
  const change = (next: Contact): void => {
    noteContact(next);
    // An event that came before this answer may be newer.
    void loading.reload();
  };
  useEffect(() => {
    // The contact was merged or erased meanwhile. The response says which.
    if (row === undefined && data !== undefined && survivor === undefined) void loading.reload();
  }, [row === undefined]);
  useEffect(() => {
    if (survivor === undefined) return;
    go(linkTo(["contacts", survivor], placeNow().query), true);
    toast({ message: t("merged") });
  }, [survivor]);
  if (row === undefined) return <NotShown of={loading} title={t("contactNotFound")} back={back} />;
  return (
    <article class="contact-page">
      <PaneHeader
        back={back}
        contactId={id}
        name={contactName(row)}
        about={t("contactSince", { time: date(row.created_at) })}
      >
        {row.opted_out && <ConsentBadge status="opted_out" />}
        {mayBegin() && isReachable(row) && (
          <div class="actions">
            <WriteButton id={id} />
          </div>
        )}
      </PaneHeader>
      <div class="contact-page-scroll">
        <div class="contact-page-columns">
          <div>
            <ContactConversations id={id} />
            <Observations id={id} />
          </div>
          <div>
            <ContactDetails contact={row} labelShortcut="l" onChange={change} />
            <ConsentSection contact={row} />
            <Sentiment contact={row} />
            <ContactData contact={row} onChange={change} />
          </div>
        </div>
      </div>
    </article>
  );
}

/** Opens the text conversation with the contact, and begins it if there is none. */
function WriteButton({ id }: { readonly id: string }): JSX.Element {
  const write = useAction(async () => {
    const row = await beginConversation(id);
    // The person may have gone elsewhere meanwhile.
    if (placeNow().path[1] === id) showReply(row);
  });
  return (
    <Button isSmall kind="primary" icon="compose" {...write}>
      {t("newMessage")}
    </Button>
  );
}
