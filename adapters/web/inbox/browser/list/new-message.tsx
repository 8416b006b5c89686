import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Contact, Conversation } from "../../../../../src/index.ts";
import {
  api,
  Dialog,
  explain,
  go,
  Icon,
  IconButton,
  linkTo,
  may,
  numberTyped,
  shownAddress,
  TextField,
  useShortcuts,
} from "../../../shared/browser/index.ts";
import {
  FoundContact,
  maxWords,
  NothingFound,
  useContactSearch,
} from "../contact/contact-search.tsx";
import { writeReplySoon } from "../conversation/composer.tsx";
import { putResponse } from "../state/conversations.ts";
import { nextSequence } from "../state/order.ts";
import { t } from "../texts.ts";

/** Writes to somebody first: opens the conversation with a contact or with a number. */
export function NewMessage(): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const isAllowed = may("conversations:write") && may("messages:write");
  useShortcuts(isAllowed ? [{ key: "m", label: t("newMessage"), run: () => setOpen(true) }] : []);
  if (!isAllowed) return null;
  return (
    <>
      <IconButton icon="compose" label={t("newMessage")} onClick={() => setOpen(true)} />
      {isOpen && <RecipientDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function RecipientDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const isBusy = useRef(false);
  const search = useContactSearch(may("contacts:read") ? typed : "");
  const found = search.found ?? [];
  const number = numberTyped(typed);
  const isKnown = found.some((each) => each.identities.some(({ address }) => address === number));
  const newNumber = isKnown ? undefined : number;
  const open = async (to: string): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      const sequence = nextSequence();
      const row = await api.post<Conversation>("v1/conversations", { to });
      putResponse(row, sequence);
      onClose();
      writeReplySoon(row.id);
      go(linkTo([row.status === "open" ? "all" : row.status, row.id]));
    } catch (error) {
      setProblem(explain(error));
      isBusy.current = false;
    }
  };
  const first = newNumber ?? found.find(isReachable)?.id;
  return (
    <Dialog
      title={t("newMessage")}
      onClose={onClose}
      onSubmit={() => {
        if (first !== undefined) void open(first);
      }}
    >
      <TextField
        label={t("newMessageTo")}
        hint={t(may("contacts:read") ? "newMessageHint" : "newMessageNumberHint")}
        autocomplete="off"
        maxLength={maxWords}
        value={typed}
        problem={problem ?? search.problem}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setProblem(undefined);
        }}
      />
      {search.found?.length === 0 && newNumber === undefined && <NothingFound />}
      <ul>
        {newNumber !== undefined && (
          <li>
            <button type="button" class="menu-item" onClick={() => void open(newNumber)}>
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
            onPick={() => void open(each.id)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

/** Whether the contact has a number. A conversation on a website begins with its visitor. */
const isReachable = ({ identities }: Contact): boolean =>
  identities.some(({ medium }) => medium === "text");
