import { useState } from "preact/hooks";

/**
 * Knows which dialog of a part of the page is open, and opens another one. `close` closes only the
 * one that was open when the part was drawn: the person may have closed it while its request was
 * on its way, and opened another one since.
 */
export function useOpened<Opened extends string | object>(): readonly [
  opened: Opened | undefined,
  open: (opened: Opened | undefined) => void,
  close: () => void,
] {
  const [opened, open] = useState<Opened>();
  const close = (): void => open((now) => (now === opened ? undefined : now));
  return [opened, open, close];
}
