import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import {
  EmptyState,
  Keys,
  linkTo,
  may,
  place,
  singleKeys,
  useShortcutHelp,
} from "../../shared/browser/index.ts";
import { ContactPage } from "./contact/contact-page.tsx";
import { isContactShown, uncoverThread } from "./contact/contact-visibility.ts";
import { Contact } from "./contact/contact.tsx";
import { Conversation } from "./conversation/conversation.tsx";
import { useFocus } from "./focus.ts";
import { ListPane } from "./list/list-pane.tsx";
import { NewMessage } from "./list/new-message.tsx";
import { useLoaded, useMoves } from "./moves.ts";
import { Rail } from "./rail.tsx";
import { leave } from "./state/actions.ts";
import { contactParameters, contactQueryOf } from "./state/contact-query.ts";
import { contacts } from "./state/contacts.ts";
import { conversation, conversations } from "./state/conversations.ts";
import { loadUnfinished } from "./state/drafts.ts";
import { counts, follow } from "./state/live.ts";
import { matches } from "./state/matches.ts";
import { loadPeople } from "./state/people.ts";
import { sweepDrafts } from "./state/sweep.ts";
import { openThread, target } from "./state/thread.ts";
import { listNameOf, listQueryOf, offeredLists, queryParameters, viewOf } from "./state/views.ts";
import { t } from "./texts.ts";

/**
 * The inbox: a list, and what is open in it. Its place is `#/<view>/<conversation>` or
 * `#/contacts/<contact>`.
 */
export function Inbox(): JSX.Element {
  const { path, query } = place.value;
  const name = listNameOf(path);
  const isContacts = name === "contacts";
  const open = name === undefined ? undefined : path[1];
  const view = viewOf(path);
  const shown = useMemo(
    () => listQueryOf(view, query),
    [view, ...queryParameters.map((each) => query[each])],
  );
  const shownContacts = useMemo(
    () => contactQueryOf(query),
    contactParameters.map((each) => query[each]),
  );
  useEffect(() => {
    loadUnfinished();
    void sweepDrafts();
    loadPeople();
    return follow();
  }, []);
  const loaded = useLoaded(name, open);
  const conversationId = isContacts ? undefined : loaded;
  useLayoutEffect(() => {
    openThread(conversationId);
    const match = shown.words === undefined ? undefined : matches.peek().get(conversationId ?? "");
    // Whoever opens what a search has found wants to see the message, and no longer one elsewhere.
    if (target.peek()?.conversation_id !== conversationId) target.value = match;
    return () => {
      if (conversationId !== undefined) leave(conversationId);
    };
  }, [conversationId]);
  useLayoutEffect(() => {
    // The next conversation would be opened under its contact.
    if (open === undefined || isContacts) uncoverThread();
  }, [open, isContacts]);
  useTitle();
  useShortcutHelp();
  useMoves(name ?? view, open, query);
  const hasContact =
    conversationId !== undefined &&
    conversation(conversationId) !== undefined &&
    isContactShown.value &&
    may("contacts:read");
  const list = isContacts ? "contacts" : name === undefined ? undefined : "conversations";
  const pane = useFocus({ list, loaded, hasContact });
  return (
    <div class={`inbox ${open === undefined ? "" : "has-open"} ${hasContact ? "has-contact" : ""}`}>
      {name !== undefined && (
        <a class="skip-link" href="#list" onClick={skipToList}>
          {t(isContacts ? "skipToContacts" : "skipToList")}
        </a>
      )}
      <Rail shown={name} />
      <main class="panes">
        <h1 class="visually-hidden">{t("title")}</h1>
        {name === undefined ? (
          <NoSuchView />
        ) : (
          <>
            <ListPane name={name} query={shown} contactQuery={shownContacts} active={open} />
            <section
              class="open-pane"
              ref={pane}
              aria-label={t(isContacts ? "contact" : "conversation")}
              // Whoever comes from the list takes the focus along.
              tabIndex={-1}
            >
              {loaded === undefined ? (
                <NoneSelected isContacts={isContacts} />
              ) : isContacts ? (
                <ContactPage key={loaded} id={loaded} back={linkTo([name], query)} />
              ) : (
                <Conversation key={loaded} id={loaded} back={linkTo([name], query)} />
              )}
            </section>
          </>
        )}
      </main>
      {hasContact && <Contact key={`contact-${conversationId}`} id={conversationId} />}
      <NewMessage />
    </div>
  );
}

/** Says that the address names no view of the inbox. */
function NoSuchView(): JSX.Element {
  const [first] = offeredLists();
  return (
    <EmptyState
      title={t("noSuchView")}
      actions={
        <a class="button button-primary" href={linkTo([first])}>
          {t(first === "contacts" ? "noSuchViewLeaveContacts" : "noSuchViewLeave")}
        </a>
      }
    >
      {t("noSuchViewHint")}
    </EmptyState>
  );
}

/** Says that a row can be selected, if there is one. */
function NoneSelected({ isContacts }: { readonly isContacts: boolean }): JSX.Element | null {
  const { ids } = isContacts ? contacts : conversations;
  if (ids.value.length === 0) return null;
  return (
    <EmptyState
      icon={isContacts ? "contacts" : "chat"}
      title={t(isContacts ? "noneSelectedContact" : "noneSelected")}
    >
      {singleKeys.value && (
        <span class="key-hints hide-on-touch">
          <Keys of="j" /> {t(isContacts ? "keyNextContact" : "keyNext")}
          <Keys of="/" /> {t("keySearch")}
          <Keys of="?" /> {t("shortcutsMenu")}
        </span>
      )}
    </EmptyState>
  );
}

/** A link to the list would change the place. */
function skipToList(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>(".list :is(a, button):not([tabindex='-1'])")?.focus();
}

function useTitle(): void {
  const unread = counts.value.all ?? 0;
  useEffect(() => {
    document.title = unread === 0 ? t("title") : t("titleUnread", { count: unread });
  }, [unread]);
}
