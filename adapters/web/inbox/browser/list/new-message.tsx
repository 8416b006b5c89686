import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  Dialog,
  explain,
  Icon,
  IconButton,
  may,
  numberTyped,
  shownAddress,
  TextField,
  useShortcuts,
} from "../../../shared/browser/index.ts";
import {
  FoundContact,
  maxQueryCharacters,
  NothingFound,
  useContactSearch,
} from "../contact/contact-search.tsx";
import { beginConversation, isReachable, mayBegin, showReply } from "../conversation/begin.ts";
import { t } from "../texts.ts";

const isOpen = signal(false);
const open = (): void => void (isOpen.value = true);
const close = (): void => void (isOpen.value = false);

/** Opens the dialog of `NewMessage`. */
export const NewMessageButton = (): JSX.Element | null =>
  mayBegin() ? <IconButton icon="compose" label={t("newMessage")} onClick={open} /> : null;

/**
 * Begins a conversation with a contact or a number, or opens the one that exists. Its key and its
 * dialog also work where a narrow window hides the list, so it must not be inside the list.
 */
export function NewMessage(): JSX.Element | null {
  useShortcuts(t("keysList"), mayBegin() ? [{ key: "m", label: t("newMessage"), run: open }] : []);
  return isOpen.value && mayBegin() ? <RecipientDialog /> : null;
}

function RecipientDialog(): JSX.Element {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isClosed = useRef(false);
  useEffect(() => () => void (isClosed.current = true), []);
  const search = useContactSearch(may("contacts:read") ? typed : "");
  const found = search.found ?? [];
  const number = numberTyped(typed);
  const isKnown = found.some((each) => each.identities.some(({ address }) => address === number));
  const newNumber = isKnown ? undefined : number;
  const writeTo = async (to: string): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      const row = await beginConversation(to);
      // The person has changed their mind.
      if (isClosed.current) return;
      close();
      showReply(row);
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  const first = newNumber ?? found.find(isReachable)?.id;
  return (
    <Dialog
      title={t("newMessage")}
      onClose={close}
      onSubmit={() => {
        if (first !== undefined) void writeTo(first);
      }}
    >
      <TextField
        label={t("newMessageTo")}
        hint={t(may("contacts:read") ? "newMessageHint" : "newMessageNumberHint")}
        autocomplete="off"
        maxLength={maxQueryCharacters}
        value={typed}
        problem={problem ?? search.problem}
        onChange={(text) => {
          setTyped(text);
          setProblem(undefined);
        }}
      />
      {search.found?.length === 0 && newNumber === undefined && <NothingFound />}
      <ul class={isBusy ? "is-waiting" : undefined} aria-busy={isBusy}>
        {newNumber !== undefined && (
          <li>
            <button type="button" class="menu-item" onClick={() => void writeTo(newNumber)}>
              <Icon name="phone" />
              <bdi class="grow truncate">
                {t("newMessageNumber", { number: shownAddress(newNumber) })}
              </bdi>
            </button>
          </li>
        )}
        {found.map((each) => (
          <FoundContact
            key={each.id}
            contact={each}
            refusal={isReachable(each) ? undefined : t("newMessageNoNumber")}
            onPick={() => void writeTo(each.id)}
          />
        ))}
      </ul>
    </Dialog>
  );
}
