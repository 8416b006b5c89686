import { useRef } from "preact/hooks";
import { newKey } from "./idempotency-keys.ts";

/**
 * Returns a function that sends texts. If a person sends the same text again after a failure, it
 * has the same idempotency key. So it arrives once, even if only the first answer was lost.
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

/** Puts a text that was not sent before what the person has typed since. */
export const unsentBefore = (unsent: string, typed: string): string =>
  typed === "" ? unsent : `${unsent} ${typed}`;
