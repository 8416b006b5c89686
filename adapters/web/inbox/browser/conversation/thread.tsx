import { Component, type JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useComputed } from "@preact/signals";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Button,
  day,
  daysBetween,
  EmptyState,
  ErrorState,
  Icon,
  Skeleton,
  tabId,
  timeZone,
  toast,
} from "../../../shared/browser/index.ts";
import { keptOf, type Outgoing } from "../state/drafts.ts";
import { now } from "../state/now.ts";
import { nameOfAuthor } from "../state/people.ts";
import { typingIn } from "../state/typing.ts";
import { type Entry, maxSought, target, type Thread, thread } from "../state/thread.ts";
import { t } from "../texts.ts";
import { MessageBubble, NoteCard, OutgoingBubble } from "./message.tsx";
import { nameIn } from "../words.ts";

/**
 * How near to the end a reader must be to follow new messages. Less than a turn of the wheel, after
 * which the thread must stay where it is.
 */
const nearEnd = 24;
/** How near to the beginning older messages are loaded. */
const nearStart = 600;

/** The thread, once it is open. Until then, that of another conversation may be. */
const threadOf = (id: string): Thread | undefined =>
  thread.value?.id === id ? thread.value : undefined;

/** The messages and notes, oldest first. It stays at the end while a reader is there. */
export function ThreadView({ row }: { readonly row: Conversation }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const { unseen, jump, onScroll } = useAnchor(scroller, row.id);
  const shown = threadOf(row.id);
  const entries = shown?.entries.value ?? [];
  const outgoing = useOutgoing(row.id);
  const isLoading = shown?.isLoading.value ?? true;
  const error = shown?.error.value;
  const isEmpty = entries.length === 0 && outgoing.length === 0;
  const marked = useTarget(scroller, onScroll);
  const contact = nameIn(row);
  const shownEntries = useMemo(
    () => <Entries entries={entries} contact={contact} marked={marked} />,
    // It begins a day where the time zone does.
    [entries, contact, marked, timeZone.value],
  );
  return (
    <div class="thread-box">
      <div
        class="thread"
        ref={scroller}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label={t("thread")}
      >
        <div class="thread-content">
          {error !== undefined && (
            <ErrorState error={error} onRetry={() => void shown?.refresh()} />
          )}
          {isEmpty && isLoading && <Skeleton rows={4} />}
          {isEmpty && !isLoading && error === undefined && (
            <EmptyState icon="chat" title={t("emptyThread")}>
              {t("emptyThreadHint")}
            </EmptyState>
          )}
          {!isEmpty && <Older shown={shown} />}
          {shownEntries}
          {outgoing.map((message) => (
            <OutgoingBubble key={message.key} id={row.id} message={message} />
          ))}
        </div>
      </div>
      <Typists row={row} />
      {unseen > 0 && (
        <Button class="thread-jump" isSmall kind="primary" onClick={jump}>
          {t("newMessages", { count: unseen })}
        </Button>
      )}
    </div>
  );
}

/** Who is typing. It is always there, so that screen readers notice its text. */
function Typists({ row }: { readonly row: Conversation }): JSX.Element {
  const names = typingIn(row.id).map((author) => nameOfAuthor(author, nameIn(row)));
  return (
    <p class="thread-typing muted truncate" role="status">
      {names.length > 0 && (
        <span>{t("typing", { count: names.length, name: names.join(", ") })}</span>
      )}
    </p>
  );
}

function Older({ shown }: { readonly shown: Thread | undefined }): JSX.Element | null {
  if (shown === undefined) return null;
  if (shown.isComplete.value) {
    return (
      <p class="thread-start muted">
        <Icon name="chat" /> {t("beginning")}
      </p>
    );
  }
  return (
    <div class="thread-start">
      <Button
        kind="quiet"
        isSmall
        isBusy={shown.isLoading.value}
        onClick={() => void shown.loadOlder()}
      >
        {t("loadOlder")}
      </Button>
    </div>
  );
}

/** What is sent, without what is typed: a key would draw the whole thread. */
const useOutgoing = (id: string): readonly Outgoing[] =>
  useComputed(() => keptOf(id).value.outgoing).value;

interface EntriesProps {
  readonly entries: readonly Entry[];
  readonly contact: string;
  /** The message that a person went to, for a moment. */
  readonly marked: string | undefined;
}

function Entries({ entries, contact, marked }: EntriesProps): JSX.Element {
  return (
    // A block, since the height of the thread changes the layout of each child of a flexible box.
    <div>
      {entries.map((entry, index) => {
        const before = entries[index - 1];
        const after = entries[index + 1];
        const isNewDay = before === undefined || !isSameDay(before, entry);
        return (
          <EntryView
            key={entry.id}
            entry={entry}
            contact={contact}
            isMarked={entry.id === marked}
            isNewDay={isNewDay}
            isContinued={!isNewDay && continues(before, entry)}
            isTimeShown={
              after === undefined ||
              !isSameDay(entry, after) ||
              !continues(entry, after) ||
              minuteOf(entry) !== minuteOf(after)
            }
          />
        );
      })}
    </div>
  );
}

interface EntryProps {
  readonly entry: Entry;
  readonly contact: string;
  readonly isMarked: boolean;
  readonly isNewDay: boolean;
  /** Whether it follows one of the same author, so that it needs no name. */
  readonly isContinued: boolean;
  readonly isTimeShown: boolean;
}

/**
 * An entry. It is drawn again only if its props have changed, since a thread may have thousands. So
 * it reads no signal itself.
 */
class EntryView extends Component<EntryProps> {
  override shouldComponentUpdate(next: EntryProps): boolean {
    const { props } = this;
    return (Object.keys(next) as (keyof EntryProps)[]).some((key) => next[key] !== props[key]);
  }

  override render(): JSX.Element {
    const { entry, contact, isMarked, isNewDay, isContinued, isTimeShown } = this.props;
    return (
      <div
        class={isMarked ? "entry is-marked" : "entry"}
        data-id={entry.id}
        // Whoever goes to it takes the focus along.
        tabIndex={-1}
      >
        {isNewDay && <Day at={entry.at} />}
        {entry.kind === "note" ? (
          <NoteCard note={entry.note} contact={contact} />
        ) : (
          <MessageBubble
            message={entry.message}
            contact={contact}
            isContinued={isContinued}
            isTimeShown={isTimeShown}
          />
        )}
      </div>
    );
  }
}

function Day({ at }: { readonly at: string }): JSX.Element {
  return (
    <p class="day">
      <span>{day(at, now.value)}</span>
    </p>
  );
}

const isSameDay = (before: Entry, after: Entry): boolean =>
  daysBetween(new Date(before.at), new Date(after.at)) === 0;

/** The minute of an ISO time, in which all time zones agree. */
const minuteOf = ({ at }: Entry): string => at.slice(0, 16);

const pauseMs = 180_000;

/** Whether an entry follows one of the same author without a pause, so that it needs no name. */
function continues(before: Entry, entry: Entry): boolean {
  if (before.kind !== "message" || entry.kind !== "message") return false;
  const [a, b] = [before.message.author, entry.message.author];
  const pause = Date.parse(entry.at) - Date.parse(before.at);
  return a.type === b.type && a.id === b.id && pause < pauseMs;
}

const markMs = 2_500;

/** Brings the message that a person goes to into sight, and returns it while it is marked. */
function useTarget(
  scroller: { readonly current: HTMLDivElement | null },
  onScroll: () => void,
): string | undefined {
  const [marked, setMarked] = useState<{ readonly id: string }>();
  const wanted = target.value;
  const shown = thread.value;
  useEffect(() => {
    if (wanted === undefined || shown?.id !== wanted.conversation_id) return;
    void shown.seek(wanted.id).then((isFound) => {
      // The person may have gone to another one meanwhile.
      if (target.peek() !== wanted) return;
      target.value = undefined;
      if (isFound) setMarked(wanted);
      else toast({ message: t("messageTooFar", { count: maxSought }) });
    });
  }, [wanted, shown]);
  // The thread stays at its end until this moves it, so this comes after the message is drawn.
  useLayoutEffect(() => {
    if (marked === undefined) return;
    const entry = scroller.current?.querySelector<HTMLElement>(`[data-id="${marked.id}"]`);
    entry?.scrollIntoView({ block: "center" });
    // The event comes a frame later. Until then, a change of size would scroll back to the end.
    onScroll();
    entry?.focus({ preventScroll: true });
    const timer = setTimeout(() => setMarked(undefined), markMs);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked?.id;
}

interface Anchor {
  readonly entry: HTMLElement;
  readonly end: number;
}

/**
 * The first entry that a reader sees, and where it ends: its start moves when a message before it
 * takes over the day above it.
 */
function firstInSight(box: HTMLElement): Anchor | undefined {
  const { top } = box.getBoundingClientRect();
  for (const entry of box.querySelectorAll<HTMLElement>(".entry")) {
    const end = endOf(entry);
    if (end > top) return { entry, end };
  }
  return undefined;
}

const endOf = (entry: HTMLElement): number => entry.getBoundingClientRect().bottom;

/** Keeps what the reader sees in its place, or the end if they are there or send something. */
function useAnchor(
  scroller: { readonly current: HTMLDivElement | null },
  id: string,
): { unseen: number; jump: () => void; onScroll: () => void } {
  const place = useRef({ isAtEnd: true, first: "", count: 0, sending: 0 });
  const [unseen, setUnseen] = useState(0);
  const shown = threadOf(id);
  const entries = shown?.entries.value ?? [];
  const outgoing = useOutgoing(id);
  const [{ id: first } = { id: "" }] = entries;
  const sending = outgoing.filter(({ state, tab }) => state === "sending" && tab === tabId).length;
  // Where the reader is, before entries come or go above them. At the end, nobody needs it.
  const anchor =
    scroller.current === null || place.current.isAtEnd || first === place.current.first
      ? undefined
      : firstInSight(scroller.current);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const before = place.current;
    const isAtEnd = before.isAtEnd || sending > before.sending;
    if (isAtEnd) {
      box.scrollTop = box.scrollHeight;
    } else if (anchor?.entry.isConnected) {
      box.scrollTop += endOf(anchor.entry) - anchor.end;
    }
    // Older messages that were put before it have been asked for.
    if (!isAtEnd && first === before.first && entries.length > before.count) {
      setUnseen((count) => count + entries.length - before.count);
    }
    place.current = { isAtEnd, first, count: entries.length, sending };
  }, [entries, outgoing]);

  const onScroll = (): void => {
    const box = scroller.current;
    if (box === null) return;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    place.current.isAtEnd = isAtEnd;
    if (isAtEnd) setUnseen(0);
    loadNearStart();
  };
  const loadNearStart = (): void => {
    const box = scroller.current;
    // A thread that is not displayed has no height, and would seem to be at its beginning.
    const isNear = box !== null && box.clientHeight > 0 && box.scrollTop < nearStart;
    if (isNear && shown?.error.peek() === undefined) void shown?.loadOlder();
  };
  // What was loaded may not fill the window, or a refresh may have dropped it. An effect that waits
  // for the next frame could run in between, while new messages are known and not yet drawn.
  useLayoutEffect(loadNearStart, [entries, shown?.isLoading.value]);

  // The composer and the window change the room.
  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const observer = new ResizeObserver(() => {
      if (place.current.isAtEnd) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
    return () => observer.disconnect();
  }, []);

  const jump = (): void => {
    const box = scroller.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
    setUnseen(0);
  };
  return { unseen, jump, onScroll };
}
