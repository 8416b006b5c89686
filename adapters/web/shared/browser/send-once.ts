import { useRef } from "preact/hooks";
import { newKey } from "./http.ts";

/**
 * Sends texts that a person may send again after a failure. The same text then has the same
 * idempotency key, so it arrives once, even if only the first answer was lost.
 */
export function useSendOnce(): (
  text: string,
  send: (key: string) => Promise<void>,
) => Promise<void> {
  const failed = useRef<{ readonly text: string; readonly key: string }>(undefined);
  return async (text, send) => {
    const key = failed.current?.text === text ? failed.current.key : newKey();
    failed.current = { text, key };
    await send(key);
    failed.current = undefined;
  };
}

/** A text that was not sent, before what a person has typed since. */
export const unsentBefore = (unsent: string, typed: string): string =>
  typed === "" ? unsent : `${unsent} ${typed}`;
