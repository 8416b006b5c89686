/** The live events, which the open parts of the console observe. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Event } from "../../../../src/index.ts";
import { currentSession, listen, may, onReconnect } from "../../shared/browser/index.ts";
import { noteContact } from "./contacts.ts";

/** A part of the console that shows what events change. */
export interface Observer {
  /** Called with each event once, in order. */
  readonly onEvent: (event: Event) => void;
  /** Called when events may have been missed: the part reads again what it shows. */
  readonly onGap: () => void;
}

const observers = new Set<Observer>();

/** Begins to follow the events. */
export function follow(): () => void {
  const { account_id, mode } = currentSession.peek() ?? {};
  const onGap = (): void => observers.forEach((each) => each.onGap());
  const endReconnecting = onReconnect(onGap);
  const endListening = may("events:read")
    ? listen({
        channel: `console:${account_id}:${mode}:${location.pathname}`,
        onEvent: (event) => {
          noteContact(event);
          observers.forEach((each) => each.onEvent(event));
        },
        onGap,
      })
    : () => {};
  return () => {
    endReconnecting();
    endListening();
  };
}

/** Observes the events while the component is shown. */
export function useLive(observer: Observer): void {
  const latest = useRef(observer);
  latest.current = observer;
  useEffect(() => {
    const own: Observer = {
      onEvent: (event) => latest.current.onEvent(event),
      onGap: () => latest.current.onGap(),
    };
    observers.add(own);
    return () => void observers.delete(own);
  }, []);
}

/**
 * Calls `refresh` when a person comes back to the window, and when the connection is back. It is
 * for what no event reports, such as keys: a colleague may have changed them meanwhile.
 */
export function useReturn(refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useLive({ onEvent() {}, onGap: () => latest.current() });
  useEffect(() => {
    const onFocus = (): void => latest.current();
    window.addEventListener("focus", onFocus);
    return () => window.removeEventListener("focus", onFocus);
  }, []);
}

/** Work that runs soon after `start`, once for many calls. */
export interface Coalesced {
  readonly start: () => void;
  readonly stop: () => void;
}

/**
 * Runs `work` soon, and once for many calls. A call while the work is under way makes it run again
 * afterwards.
 */
export function coalesced(work: () => Promise<void>, delayMs: number): Coalesced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isStopped = false;
  let again = false;
  const run = async (): Promise<void> => {
    timer = undefined;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
      if (again) {
        again = false;
        start();
      }
    }
  };
  const start = (): void => {
    if (isRunning) again = true;
    else if (!isStopped) timer ??= setTimeout(() => void run(), delayMs);
  };
  const stop = (): void => {
    isStopped = true;
    clearTimeout(timer);
  };
  return { start, stop };
}

/** Runs the latest `work` soon after each call, while the component is shown. */
export function useCoalesced(work: () => Promise<void>, delayMs: number): () => void {
  const latest = useRef(work);
  latest.current = work;
  const [{ start, stop }] = useState(() => coalesced(() => latest.current(), delayMs));
  useEffect(() => stop, []);
  return start;
}
