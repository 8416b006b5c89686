import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import {
  EmptyState,
  go,
  isFocusLost,
  Keys,
  linkTo,
  may,
  place,
  singleKeys,
  useFocusOfOpen,
  useShortcutHelp,
  useShortcuts,
} from "../../shared/browser/index.ts";
import { leave } from "./state/actions.ts";
import { conversation, list } from "./state/conversations.ts";
import { loadUnfinished } from "./state/drafts.ts";
import { counts, follow } from "./state/live.ts";
import { loadPeople } from "./state/people.ts";
import { matches } from "./state/matches.ts";
import { openThread, target } from "./state/thread.ts";
import { isView, type ListQuery } from "./state/views.ts";
import { t } from "./texts.ts";
import {
  coversThread,
  isContactShown,
  showContact,
  uncoverThread,
} from "./views/contact-visibility.ts";
import { Contact } from "./views/contact.tsx";
import { Conversation } from "./views/conversation.tsx";
import { ListPane } from "./views/list-pane.tsx";
import { ViewRail } from "./views/rail.tsx";

/** The parameters of the place that choose what the list shows. */
const placeFilters = ["label", "channel", "priority", "unread", "q", "in"];

/** The inbox: views, list, conversation and contact. Its place is `#/<view>/<conversation>`. */
export function Inbox(): JSX.Element {
  const { path, query } = place.value;
  const view = isView(path[0]) ? path[0] : "all";
  const open = path[1];
  const shown: ListQuery = useMemo(
    () => ({
      view,
      label: query["label"],
      channel:
        query["channel"] === "sms" || query["channel"] === "webchat" ? query["channel"] : undefined,
      priority: priorityOf(query["priority"]),
      unread: query["unread"] === "true" ? true : undefined,
      words: query["q"],
      isInView: query["in"] === "view" ? true : undefined,
    }),
    [view, ...placeFilters.map((each) => query[each])],
  );
  // Before a frame is drawn, which would have the rows and the messages of the place before.
  useLayoutEffect(() => void list.show(shown), [shown]);
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
  useEffect(() => list.keep(open), [open]);
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
  const pane = useFocusOfOpen(open, ".list-pane");
  useFocusOfContact(hasContact, pane);
  useFocusOfNext(loaded, pane);
  return (
    <div class={`inbox ${open === undefined ? "" : "has-open"} ${hasContact ? "has-contact" : ""}`}>
      <a class="skip-link" href="#conversations" onClick={skipToList}>
        {t("skipToList")}
      </a>
      <ViewRail view={view} />
      <main class="panes">
        <h1 class="visually-hidden">{t("title")}</h1>
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
            list.ids.value.length > 0 && <NoneSelected />
          )}
        </section>
      </main>
      {hasContact && <Contact key={`contact-${loaded}`} id={loaded} />}
    </div>
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

/** Browsers repeat a held key sooner than this. */
const repeatMs = 150;

/** Whether a key is held down that goes through the list. */
const isPassing = signal(false);
let keyTimer: ReturnType<typeof setTimeout> | undefined;

function setPassing(isHeld: boolean): void {
  clearTimeout(keyTimer);
  isPassing.value = isHeld;
  // Another window may get the event that the key is up.
  if (isHeld) keyTimer = setTimeout(() => setPassing(false), repeatMs);
}

window.addEventListener("keyup", () => setPassing(false));

/**
 * The conversation to show. Each one takes several requests, of which a person may make 50 a
 * second. So those that a person only passes by are not loaded.
 */
function useLoaded(open: string | undefined): string | undefined {
  const loaded = useRef(open);
  if (!isPassing.value) loaded.current = open;
  return loaded.current;
}

/** Takes the focus along into the contact where it covers the conversation. */
function useFocusOfContact(
  hasContact: boolean,
  conversation: { readonly current: HTMLElement | null },
): void {
  useLayoutEffect(() => {
    const wasThere = conversation.current?.contains(document.activeElement) === true;
    if (hasContact && coversThread() && (wasThere || isFocusLost())) {
      document.querySelector<HTMLElement>(".contact")?.focus();
    }
  }, [hasContact]);
}

/**
 * Takes the focus along when another conversation is opened than the one that has it, or whose row
 * has it: to the row of the next one, or to the next one itself where the list is not displayed.
 */
function useFocusOfNext(
  loaded: string | undefined,
  conversation: { readonly current: HTMLElement | null },
): void {
  const before = useRef(loaded);
  useLayoutEffect(() => {
    const last = before.current;
    before.current = loaded;
    if (loaded === last) return;
    const list = document.querySelector<HTMLElement>(".list");
    const rowBefore = list?.querySelector(`[data-key="${CSS.escape(last ?? "")}"] > a`);
    // The list has the focus itself where no row could take it.
    const wasThere = [rowBefore, list].includes(document.activeElement);
    if (!(wasThere && loaded !== undefined) && !isFocusLost()) return;
    const row = list?.querySelector<HTMLElement>("a[aria-current]");
    const target = list?.checkVisibility() === true ? (row ?? list) : conversation.current;
    target?.focus({ preventScroll: true });
  }, [loaded]);
}

/** A link to the list would change the place. */
function skipToList(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>(".list :is(a, button):not([tabindex='-1'])")?.focus();
}

function priorityOf(given: string | undefined): ListQuery["priority"] {
  const all = ["low", "normal", "high", "urgent"] as const;
  return all.find((each) => each === given);
}

function useTitle(): void {
  const unread = counts.value.all ?? 0;
  useEffect(() => {
    document.title = unread === 0 ? t("title") : t("titleUnread", { count: unread });
  }, [unread]);
}

/** The shortcuts that move through the list. */
function useMoves(
  view: ListQuery["view"],
  open: string | undefined,
  query: Readonly<Record<string, string>>,
): void {
  const move = (step: 1 | -1, { repeat }: KeyboardEvent): void => {
    if (repeat) setPassing(true);
    const ids = list.ids.peek();
    const at = open === undefined ? -1 : ids.indexOf(open);
    const target = at === -1 && step === -1 ? ids.length - 1 : at + step;
    const next = target < 0 ? undefined : ids.at(target);
    if (next !== undefined) go(linkTo([view, next], query), open !== undefined);
  };
  useShortcuts([
    { key: "j", label: t("keyNext"), run: (event) => move(1, event), repeats: true },
    { key: "k", label: t("keyPrevious"), run: (event) => move(-1, event), repeats: true },
    ...(may("contacts:read")
      ? [{ key: "c", label: t("keyContact"), run: () => showContact(!isContactShown.peek()) }]
      : []),
    {
      key: "/",
      label: t("keySearch"),
      run: () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
    },
    {
      key: "Escape",
      label: t("keyBack"),
      run: () => {
        if (open !== undefined) go(linkTo([view], query));
      },
    },
  ]);
}
