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
import { Contact } from "./contact/contact.tsx";
import { isContactShown, uncoverThread } from "./contact/contact-visibility.ts";
import { Conversation } from "./conversation/conversation.tsx";
import { useFocus } from "./focus.ts";
import { ListPane } from "./list/list-pane.tsx";
import { NewMessage } from "./list/new-message.tsx";
import { useLoaded, useMoves } from "./moves.ts";
import { ViewRail } from "./rail.tsx";
import { leave } from "./state/actions.ts";
import { conversation, conversations } from "./state/conversations.ts";
import { loadUnfinished } from "./state/drafts.ts";
import { counts, follow } from "./state/live.ts";
import { loadPeople } from "./state/people.ts";
import { matches } from "./state/matches.ts";
import { openThread, target } from "./state/thread.ts";
import { isView, listQueryOf, queryParameters, viewOf } from "./state/views.ts";
import { t } from "./texts.ts";

/** The inbox: views, list, conversation and contact. Its place is `#/<view>/<conversation>`. */
export function Inbox(): JSX.Element {
  const { path, query } = place.value;
  const hasList = path[0] === undefined || isView(path[0]);
  const view = viewOf(path);
  const open = hasList ? path[1] : undefined;
  const shown = useMemo(
    () => listQueryOf(view, query),
    [view, ...queryParameters.map((each) => query[each])],
  );
  // Before a frame is drawn, which would have the rows and the messages of the place before.
  useLayoutEffect(() => void conversations.show(shown), [shown]);
  useEffect(() => {
    loadUnfinished();
    loadPeople();
    return follow();
  }, []);
  const loaded = useLoaded(open);
  useLayoutEffect(() => {
    openThread(loaded);
    const match = shown.words === undefined ? undefined : matches.peek().get(loaded ?? "");
    // Whoever opens what a search has found wants to see the message.
    if (match !== undefined) target.value ??= match;
    return () => {
      if (loaded !== undefined) leave(loaded);
    };
  }, [loaded]);
  useEffect(() => conversations.keep(open), [open]);
  useLayoutEffect(() => {
    // The next conversation would be opened under its contact.
    if (open === undefined) uncoverThread();
  }, [open]);
  useTitle();
  useShortcutHelp();
  useMoves(view, open, query);
  const hasContact =
    loaded !== undefined &&
    conversation(loaded) !== undefined &&
    isContactShown.value &&
    may("contacts:read");
  const pane = useFocus({ hasList, loaded, hasContact });
  return (
    <div class={`inbox ${open === undefined ? "" : "has-open"} ${hasContact ? "has-contact" : ""}`}>
      {hasList && (
        <a class="skip-link" href="#conversations" onClick={skipToList}>
          {t("skipToList")}
        </a>
      )}
      <ViewRail view={hasList ? view : undefined} />
      <main class="panes">
        <h1 class="visually-hidden">{t("title")}</h1>
        {hasList ? (
          <>
            <ListPane query={shown} active={open} placeQuery={query} />
            <section
              class="conversation-pane"
              ref={pane}
              aria-label={t("conversation")}
              // Whoever comes from the list takes the focus along.
              tabIndex={-1}
            >
              {loaded !== undefined ? (
                <Conversation key={loaded} id={loaded} back={linkTo([view], query)} />
              ) : (
                conversations.ids.value.length > 0 && <NoneSelected />
              )}
            </section>
          </>
        ) : (
          <NoSuchView />
        )}
      </main>
      {hasContact && <Contact key={`contact-${loaded}`} id={loaded} />}
      <NewMessage />
    </div>
  );
}

/** Says that the address names no view of the inbox. */
function NoSuchView(): JSX.Element {
  return (
    <EmptyState
      title={t("noSuchView")}
      actions={
        <a class="button button-primary" href={linkTo(["all"])}>
          {t("noSuchViewLeave")}
        </a>
      }
    >
      {t("noSuchViewHint")}
    </EmptyState>
  );
}

function NoneSelected(): JSX.Element {
  return (
    <EmptyState icon="chat" title={t("noneSelected")}>
      {singleKeys.value && (
        <span class="key-hints hide-on-touch">
          <Keys of="j" /> {t("keyNext")}
          <Keys of="k" /> {t("keyPrevious")}
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
