/** The shortcuts that go through the list, and what they load on the way. */
import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { go, linkTo, may, useShortcuts } from "../../shared/browser/index.ts";
import { isContactShown, showContact } from "./contact/contact-visibility.ts";
import { listTitle } from "./rail.tsx";
import { contacts } from "./state/contacts.ts";
import { conversations } from "./state/conversations.ts";
import { offeredLists, type ListName } from "./state/views.ts";
import { t } from "./texts.ts";

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
 * The conversation or contact to show. Each one takes several requests, and a person may make only
 * 50 requests a second. So those that a person only passes by are not loaded.
 */
export function useLoaded(
  name: ListName | undefined,
  open: string | undefined,
): string | undefined {
  const loaded = useRef({ name, open });
  if (!isPassing.value || loaded.current.name !== name) loaded.current = { name, open };
  return loaded.current.open;
}

/** The shortcuts that move through the list. */
export function useMoves(
  name: ListName,
  open: string | undefined,
  query: Readonly<Record<string, string>>,
): void {
  const isContacts = name === "contacts";
  const move = (step: 1 | -1, { repeat }: KeyboardEvent): void => {
    if (repeat) setPassing(true);
    const ids = (isContacts ? contacts : conversations).ids.peek();
    const at = open === undefined ? -1 : ids.indexOf(open);
    const target = at === -1 && step === -1 ? ids.length - 1 : at + step;
    const next = target < 0 ? undefined : ids.at(target);
    if (next !== undefined) go(linkTo([name, next], query), open !== undefined);
  };
  useShortcuts(t("keysList"), [
    {
      key: "j",
      label: t(isContacts ? "keyNextContact" : "keyNext"),
      run: (event) => move(1, event),
      repeats: true,
    },
    {
      key: "k",
      label: t(isContacts ? "keyPreviousContact" : "keyPrevious"),
      run: (event) => move(-1, event),
      repeats: true,
    },
    {
      key: "/",
      label: t("keySearch"),
      run: () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
    },
    {
      key: "Escape",
      label: t("keyBack"),
      run: () => {
        if (open !== undefined) go(linkTo([name], query));
      },
    },
  ]);
  useShortcuts(
    t("conversation"),
    may("contacts:read") && !isContacts
      ? [{ key: "c", label: t("keyContact"), run: () => showContact(!isContactShown.peek()) }]
      : [],
  );
  useShortcuts(
    t("views"),
    offeredLists().map((list, index) => ({
      key: String(index + 1),
      label: t("keyView", { view: listTitle(list) }),
      run: () => go(linkTo([list])),
    })),
  );
}
