/** Finds contacts while a person types, for a dialog that needs one. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import { api, Avatar, explain, isVisible, shownAddress } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { contactName } from "../words.ts";

const searchDelayMs = 250;
const maxFound = 8;

/** The maximum number of characters that the server accepts in a search. */
export const maxQueryCharacters = 200;

export interface ContactSearch {
  /** The contacts that match the words. Undefined while there are no words, or no answer yet. */
  readonly found: readonly Contact[] | undefined;
  readonly problem: string | undefined;
}

interface Answer extends ContactSearch {
  readonly words: string;
}

/** Searches for the words, once the person pauses. */
export function useContactSearch(typed: string): ContactSearch {
  const words = typed.trim();
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    if (words === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .get<{ readonly data: readonly Contact[] }>("v1/contacts/search", {
          query: { q: words, limit: maxFound },
          signal: stop.signal,
        })
        .then(({ data }) => setAnswer({ words, found: data, problem: undefined }))
        .catch((error: unknown) => {
          if (stop.signal.aborted) return;
          setAnswer({ words, found: undefined, problem: explain(error) });
        });
    }, searchDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words]);
  // Enter must not pick a contact that matches what was typed before.
  return answer?.words === words ? answer : { found: undefined, problem: undefined };
}

interface FoundContactProps {
  readonly contact: Contact;
  /** Why the contact cannot be picked. Undefined if it can. */
  readonly refusal?: string | undefined;
  readonly onPick: () => void;
}

/** A contact to pick. */
export function FoundContact({ contact, refusal, onPick }: FoundContactProps): JSX.Element {
  const address = isVisible(contact.name) ? shownAddress(contact.phone ?? "") : "";
  return (
    <li>
      <button type="button" class="menu-item" disabled={refusal !== undefined} onClick={onPick}>
        <Avatar name={contactName(contact)} seed={contact.id} />
        <bdi class="grow truncate">{contactName(contact)}</bdi>
        <bdi class="muted">{refusal ?? address}</bdi>
      </button>
    </li>
  );
}

export const NothingFound = (): JSX.Element => (
  <p class="muted" role="status">
    {t("emptySearch")}
  </p>
);
