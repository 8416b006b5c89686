/** Where the thread is scrolled to, and what it loads there. */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { tabId, toast } from "../../../shared/browser/index.ts";
import { keptOf, type Outgoing } from "../state/drafts.ts";
import { maxSought, target, thread, type Thread } from "../state/thread.ts";
import { t } from "../texts.ts";

/**
 * How near to the end a reader must be to follow new messages. Less than a turn of the wheel, after
 * which the thread must stay where it is.
 */
const nearEnd = 24;
/** How near to the beginning older messages are loaded. */
const nearStart = 600;

/**
 * Returns the thread of a conversation. Returns undefined while it is not open yet: the thread of
 * another conversation may still be open.
 */
export const threadOf = (id: string): Thread | undefined =>
  thread.value?.id === id ? thread.value : undefined;

/**
 * Returns the messages that are being sent. It does not follow what is typed: otherwise, each key
 * would draw the whole thread again.
 */
export const useOutgoing = (id: string): readonly Outgoing[] =>
  useComputed(() => keptOf(id).value.outgoing).value;

const markMs = 2_500;

/** Brings the message that a person goes to into sight, and returns it while it is marked. */
export function useTarget(
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
export function useAnchor(
  scroller: { readonly current: HTMLDivElement | null },
  id: string,
): { unseen: number; jump: () => void; onScroll: () => void } {
  const place = useRef({ isAtEnd: true, top: 0, first: "", count: 0, sending: 0 });
  const [unseen, setUnseen] = useState(0);
  const shown = threadOf(id);
  const entries = shown?.entries.value ?? [];
  const outgoing = useOutgoing(id);
  const [{ id: first } = { id: "" }] = entries;
  const sending = outgoing.filter(({ state, tab }) => state === "sending" && tab === tabId).length;
  /** A thread that is not displayed keeps its place. */
  const topOf = (box: HTMLElement): number =>
    box.clientHeight > 0 ? box.scrollTop : place.current.top;
  const notePlace = (box: HTMLElement): void => {
    const { isAtEnd, top } = place.current;
    const isNearEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    // Only scrolling up leaves the end. If the window becomes narrower, the text below what is
    // shown grows.
    place.current.isAtEnd = isNearEnd || (isAtEnd && topOf(box) >= top);
    place.current.top = topOf(box);
  };
  const scrollToEnd = (box: HTMLElement): void => {
    box.scrollTop = box.scrollHeight;
    place.current.top = topOf(box);
  };
  // The reader may have scrolled already: the event comes a frame later. Do not scroll them back.
  if (scroller.current !== null && topOf(scroller.current) !== place.current.top) {
    notePlace(scroller.current);
  }
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
    if (isAtEnd) scrollToEnd(box);
    else if (anchor?.entry.isConnected) box.scrollTop += endOf(anchor.entry) - anchor.end;
    // Older messages that were put before it have been asked for.
    if (!isAtEnd && first === before.first && entries.length > before.count) {
      setUnseen((count) => count + entries.length - before.count);
    }
    place.current = { isAtEnd, top: topOf(box), first, count: entries.length, sending };
  }, [entries, outgoing]);

  const onScroll = (): void => {
    const box = scroller.current;
    if (box === null) return;
    notePlace(box);
    if (place.current.isAtEnd) setUnseen(0);
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
      if (place.current.isAtEnd) scrollToEnd(box);
    });
    observer.observe(box);
    if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
    return () => observer.disconnect();
  }, []);

  const jump = (): void => {
    if (scroller.current !== null) scrollToEnd(scroller.current);
    setUnseen(0);
  };
  return { unseen, jump, onScroll };
}
