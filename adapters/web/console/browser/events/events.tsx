import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Event } from "../../../../../src/index.ts";
import {
  Button,
  EmptyState,
  ErrorNote,
  ErrorState,
  go,
  isFocusLost,
  linkTo,
  NewRows,
  place,
  Select,
  Skeleton,
  streamState,
  useShortcuts,
  VirtualList,
} from "../../../shared/browser/index.ts";
import { useLive } from "../live.ts";
import { PageView } from "../parts/layout.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { apiDocument, eventTypes, loadDocument } from "../reference/document.ts";
import { t } from "../texts.ts";
import { EventDetail } from "./event-detail.tsx";
import { EventRow } from "./event-row.tsx";
import { matches, maxEvents, Tail } from "./tail.ts";

const rowHeight = 2.75;

/** A live tail of the events, with the payload of one. */
export function EventsPage(): JSX.Element {
  const { path, query } = place.value;
  const [, open] = path;
  const type = query["type"] === "" ? undefined : query["type"];
  const [words, setWords] = useState("");
  const tail = useMemo(() => new Tail(type), [type]);
  useEffect(loadDocument, []);
  useEffect(() => tail.loadWhileShown(), [tail]);
  useLive({ onEvent: (event) => tail.take(event), onGap: () => void tail.reload() });
  useShortcuts(t("events"), [
    { key: "p", label: t("keyPause"), run: () => tail.pause(!tail.isPaused.peek()) },
  ]);
  const shown = (tail.events.value ?? []).filter((event) => matches(event, words.trim()));
  const detail = useFocusOfOpen(open);
  const selected = shown.find(({ id }) => id === open);
  return (
    <PageView
      title={t("events")}
      about={t("eventsAbout")}
      actions={<TailActions tail={tail} />}
      isFull
    >
      <div class={open === undefined ? "panes" : "panes has-open"}>
        <section class="pane pane-list" aria-label={t("events")}>
          <div class="filters">
            <Select
              label={t("filterType")}
              value={type ?? ""}
              options={[
                { value: "", label: t("any") },
                ...typesWith(type).map((value) => ({ value, label: value })),
              ]}
              onChange={(chosen) => go(linkTo(["events"], { type: chosen }), true)}
            />
            <SearchField
              label={t("filterWords")}
              placeholder={t("filterWordsHint")}
              value={words}
              onChange={setWords}
            />
          </div>
          <EventList tail={tail} events={shown} open={open} type={type} />
        </section>
        <section
          class="pane pane-detail"
          ref={detail}
          aria-label={t("eventDetail")}
          // Whoever comes from the list takes the focus along.
          tabIndex={-1}
        >
          {open === undefined ? (
            <EmptyState icon="activity" title={t("eventNone")}>
              {t("eventNoneHint")}
            </EmptyState>
          ) : (
            <EventDetail key={open} id={open} known={selected} type={type} />
          )}
        </section>
      </div>
    </PageView>
  );
}

/**
 * Gives the focus to the open event where it takes the place of the list, as on a phone.
 * `VirtualList` takes it back. Returns the pane of the event, which needs a `tabIndex`.
 */
function useFocusOfOpen(open: string | undefined): RefObject<HTMLElement | null> {
  const pane = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const isListShown = document.querySelector(".pane-list")?.checkVisibility() === true;
    if (open !== undefined && !isListShown && isFocusLost()) pane.current?.focus();
  }, [open]);
  return pane;
}

/** The known types, and the chosen one while they are loading. */
function typesWith(type: string | undefined): readonly string[] {
  const known = apiDocument.state.value.data === undefined ? [] : eventTypes();
  return type === undefined || known.includes(type) ? known : [...known, type];
}

function TailActions({ tail }: { readonly tail: Tail }): JSX.Element {
  const isPaused = tail.isPaused.value;
  const state = isPaused ? "paused" : streamState.value;
  return (
    <>
      <span class={`tail-state is-${state}`} role="status">
        {state === "paused"
          ? t("tailPaused")
          : state === "live"
            ? t("tailLive")
            : t(state === "connecting" ? "streamConnecting" : "streamLost")}
      </span>
      <Button icon={isPaused ? "play" : "pause"} onClick={() => tail.pause(!isPaused)}>
        {t(isPaused ? "tailResume" : "tailPause")}
      </Button>
    </>
  );
}

interface EventListProps {
  readonly tail: Tail;
  readonly events: readonly Event[];
  readonly open: string | undefined;
  readonly type: string | undefined;
}

function EventList({ tail, events, open, type }: EventListProps): JSX.Element {
  const byId = new Map(events.map((event) => [event.id as string, event]));
  const loaded = tail.events.value;
  const error = tail.error.value;
  const olderError = tail.olderError.value;
  const hasMore = tail.hasMore.value;
  const canLoadMore = hasMore && !tail.isLoading.value && olderError === undefined;
  const isEmpty = events.length === 0;
  useEffect(() => {
    // Events that were not loaded yet may have the words of the filter.
    if (isEmpty && canLoadMore) void tail.more();
  }, [isEmpty, canLoadMore]);
  if (loaded === undefined) {
    if (error !== undefined) return <ErrorState error={error} onRetry={() => tail.show()} />;
    return <Skeleton rows={8} />;
  }
  const failure = olderError !== undefined && (
    <ErrorState error={olderError} onRetry={() => void tail.more()} />
  );
  const kept = loaded.length < maxEvents ? undefined : t("eventsKept", { count: maxEvents });
  const nothing = hasMore ? (
    <Skeleton rows={8} />
  ) : (
    <EmptyState icon="activity" title={t("eventsNone")}>
      {kept ?? t("eventsNoneHint")}
    </EmptyState>
  );
  const waiting = tail.waiting.value;
  return (
    <div
      class="tail"
      onPointerEnter={({ pointerType }) => pointerType === "mouse" && tail.hold(true)}
      onPointerLeave={() => tail.hold(false)}
    >
      {error !== undefined && <ErrorNote error={error} onRetry={() => tail.show()} />}
      {waiting > 0 && (
        <NewRows onShow={() => tail.show()}>{t("eventsWaiting", { count: waiting })}</NewRows>
      )}
      {isEmpty ? (
        failure || nothing
      ) : (
        <VirtualList
          label={t("events")}
          items={events.map(({ id }) => id)}
          rowHeight={rowHeight}
          active={open}
          onEnd={canLoadMore ? () => void tail.more() : undefined}
          renderRow={(id, tabIndex) => {
            const event = byId.get(id);
            return (
              event && (
                <EventRow event={event} tabIndex={tabIndex} isOpen={id === open} type={type} />
              )
            );
          }}
          footer={failure || (kept && <p class="list-note muted">{kept}</p>)}
        />
      )}
    </div>
  );
}
