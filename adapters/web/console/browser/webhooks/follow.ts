/** Deliveries that are shown while they happen. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Delivery } from "../../../../../src/index.ts";

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
/** How long attempts may take to appear that a person asked for. */
const expectedMs = 15_000;

/**
 * Reads again what is shown while the deliveries have attempts under way or to come, because
 * attempts cause no events. The pauses grow from 1 s to 10 s, and are short again after a change.
 * Returns a function to call when a person asked for attempts that are not shown yet.
 */
export function useDeliveries(shown: readonly Delivery[], read: () => Promise<void>): () => void {
  const latest = useRef(read);
  latest.current = read;
  const [requests, setRequests] = useState(0);
  const [isExpecting, setExpecting] = useState(false);
  const underway = shown.filter(({ next_attempt_at }) => next_attempt_at !== null);
  const state = underway.map((each) => `${each.id} ${each.attempt_count}`).join();
  const isFollowed = isExpecting || underway.length > 0;
  useEffect(() => {
    if (!isFollowed) return undefined;
    let pauseMs = firstPauseMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const next = (): void => {
      if (!isOver) timer = setTimeout(() => void readNow(), pauseMs);
      pauseMs = Math.min(2 * pauseMs, maxPauseMs);
    };
    const readNow = async (): Promise<void> => {
      if (document.visibilityState === "visible") await latest.current();
      next();
    };
    next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isFollowed, state, requests]);
  useEffect(() => {
    if (requests === 0) return undefined;
    setExpecting(true);
    const timer = setTimeout(() => setExpecting(false), expectedMs);
    return () => clearTimeout(timer);
  }, [requests]);
  return () => setRequests((before) => before + 1);
}
