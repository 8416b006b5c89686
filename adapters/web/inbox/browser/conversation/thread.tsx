import { Component, type JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Button,
  day,
  daysBetween,
  EmptyState,
  ErrorState,
  Icon,
  Skeleton,
  timeZone,
} from "../../../shared/browser/index.ts";
import { now } from "../state/now.ts";
import { nameOfAuthor } from "../state/people.ts";
import { type Entry, type Thread } from "../state/thread.ts";
import { typingIn } from "../state/typing.ts";
import { t } from "../texts.ts";
import { nameIn } from "../words.ts";
import { MessageBubble, NoteCard, OutgoingBubble } from "./message.tsx";
import { threadOf, useAnchor, useOutgoing, useTarget } from "./thread-scroll.ts";

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
