import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  api,
  Avatar,
  Button,
  Dialog,
  explain,
  go,
  linkTo,
  newKey,
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { drop, fetchConversation } from "../state/conversations.ts";
import { forgetDrafts } from "../state/drafts.ts";
import { thread } from "../state/thread.ts";
import { t } from "../texts.ts";

const nameOf = ({ name, phone, id }: Contact): string => name ?? phone ?? id;

interface MergeProps {
  readonly contact: Contact;
  readonly onClose: () => void;
  readonly onMerged: (contact: Contact) => void;
}

const searchDelayMs = 250;
const maxFound = 8;

/** Merges another contact into this one, after a look at both. */
export function MergeDialog({ contact, onClose, onMerged }: MergeProps): JSX.Element {
  const [words, setWords] = useState("");
  const [found, setFound] = useState<readonly Contact[]>([]);
  const [other, setOther] = useState<Contact>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [key] = useState(newKey);
  useEffect(() => {
    if (words.trim() === "") {
      setFound([]);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .get<{ readonly data: readonly Contact[] }>(
          "v1/contacts/search",
          { q: words.trim(), limit: maxFound },
          { signal: stop.signal },
        )
        .then(({ data }) => setFound(data.filter(({ id }) => id !== contact.id)))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) setProblem(explain(error));
        });
    }, searchDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words]);
  const merge = async (): Promise<void> => {
    if (other === undefined) return;
    setBusy(true);
    try {
      onMerged(
        await api.post<Contact>(
          `v1/contacts/${contact.id}/merge`,
          { contact_id: other.id },
          { key },
        ),
      );
      const open = thread.peek()?.id;
      if (open !== undefined) void fetchConversation(open).catch(() => {});
      toast({ message: t("merged") });
      onClose();
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("mergeTitle")}
      onClose={onClose}
      isWide
      actions={
        <Button
          kind="danger"
          isBusy={isBusy}
          disabled={other === undefined}
          onClick={() => void merge()}
        >
          {t("mergeButton")}
        </Button>
      }
    >
      {other === undefined ? (
        <>
          <TextField
            label={t("mergeSearch")}
            type="search"
            maxLength={200}
            value={words}
            problem={problem}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
          <ul class="found">
            {found.map((each) => (
              <li key={each.id}>
                <button type="button" class="menu-item" onClick={() => setOther(each)}>
                  <Avatar name={nameOf(each)} seed={each.id} />
                  <bdi class="grow truncate">{nameOf(each)}</bdi>
                  <bdi class="muted">{each.name === null ? "" : each.phone}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <div class="merge">
            <MergeSide title={t("mergeKeeps")} contact={contact} />
            <MergeSide title={t("mergeMoves")} contact={other} />
          </div>
          <p>{t("mergePreview", { name: nameOf(contact), other: nameOf(other) })}</p>
          {problem !== undefined && (
            <p class="field-problem" role="alert">
              {problem}
            </p>
          )}
        </>
      )}
    </Dialog>
  );
}

interface MergeSideProps {
  readonly title: string;
  readonly contact: Contact;
}

function MergeSide({ title, contact }: MergeSideProps): JSX.Element {
  return (
    <div class="merge-side">
      <p class="muted">{title}</p>
      <p class="contact-name">
        <bdi>{nameOf(contact)}</bdi>
      </p>
      {[contact.phone, contact.email, ...contact.identities.map(({ address }) => address)]
        .filter((each, index, all) => each !== null && all.indexOf(each) === index)
        .map((each) => (
          <p key={each}>
            <bdi>{each}</bdi>
          </p>
        ))}
    </div>
  );
}

interface EraseProps {
  readonly contact: Contact;
  readonly conversationId: string;
  readonly onClose: () => void;
}

/** Erases the contact after a typed confirmation. */
export function EraseDialog({ contact, conversationId, onClose }: EraseProps): JSX.Element {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [key] = useState(newKey);
  const word = t("eraseWord");
  const erase = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.delete(`v1/contacts/${contact.id}`, { key });
      forgetDrafts(contact.id, conversationId);
      onClose();
      go(linkTo(["all"]), true);
      drop(conversationId);
      toast({ message: t("erased") });
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t("eraseTitle", { name: nameOf(contact) })}
      onClose={onClose}
      actions={
        <Button
          kind="danger"
          isBusy={isBusy}
          disabled={typed !== word}
          onClick={() => void erase()}
        >
          {t("eraseButton")}
        </Button>
      }
    >
      <p>{t("eraseWarning")}</p>
      <TextField
        label={t("eraseConfirm", { word })}
        autocomplete="off"
        value={typed}
        problem={problem}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </Dialog>
  );
}
