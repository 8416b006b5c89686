import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  api,
  Button,
  Dialog,
  explain,
  newKey,
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { contacts } from "../state/contacts.ts";
import { conversations } from "../state/conversations.ts";
import { forgetContact } from "../state/drafts.ts";
import { thread } from "../state/thread.ts";
import { t } from "../texts.ts";
import {
  FoundContact,
  maxQueryCharacters,
  NothingFound,
  useContactSearch,
} from "./contact-search.tsx";
import { MergePreview, useMergePreview } from "./merge-preview.tsx";

interface MergeProps {
  readonly contact: Contact;
  readonly onClose: () => void;
  readonly onMerged: (contact: Contact) => void;
}

/** Merges another contact into this one: first the other contact is found, then both are shown. */
export function MergeDialog({ contact, onClose, onMerged }: MergeProps): JSX.Element {
  const [other, setOther] = useState<Contact>();
  return other === undefined ? (
    <Dialog title={t("mergeTitle")} onClose={onClose} isWide>
      <ContactSearch except={contact.id} onPick={setOther} />
    </Dialog>
  ) : (
    <Confirmation
      contact={contact}
      other={other}
      onBack={() => setOther(undefined)}
      onClose={onClose}
      onMerged={onMerged}
    />
  );
}

interface ContactSearchProps {
  /** The contact that is not offered. */
  readonly except: string;
  readonly onPick: (contact: Contact) => void;
}

function ContactSearch({ except, onPick }: ContactSearchProps): JSX.Element {
  const [words, setWords] = useState("");
  const { found, problem } = useContactSearch(words);
  const others = found?.filter(({ id }) => id !== except);
  return (
    <>
      <TextField
        label={t("mergeSearch")}
        type="search"
        maxLength={maxQueryCharacters}
        value={words}
        problem={problem}
        onChange={setWords}
      />
      {others?.length === 0 && <NothingFound />}
      <ul>
        {others?.map((each) => (
          <FoundContact key={each.id} contact={each} onPick={() => onPick(each)} />
        ))}
      </ul>
    </>
  );
}

interface ConfirmationProps extends MergeProps {
  readonly other: Contact;
  readonly onBack: () => void;
}

function Confirmation(props: ConfirmationProps): JSX.Element {
  const { contact, other, onBack, onClose, onMerged } = props;
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [key] = useState(newKey);
  const preview = useMergePreview(contact, other);
  const merge = async (): Promise<void> => {
    setBusy(true);
    try {
      const body = { contact_id: other.id };
      onMerged(await api.post<Contact>(`v1/contacts/${contact.id}/merge`, body, { key }));
      forgetContact(other.id);
      contacts.drop(other.id);
      const open = thread.peek()?.id;
      if (open !== undefined) void conversations.fetch(open).catch(() => {});
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
        <>
          <Button kind="quiet" onClick={onBack}>
            {t("mergeBack")}
          </Button>
          <Button
            kind="danger"
            isBusy={isBusy}
            // The merge cannot be confirmed before the preview is shown.
            disabled={preview.data === undefined}
            onClick={() => void merge()}
          >
            {t("mergeButton")}
          </Button>
        </>
      }
    >
      <MergePreview contact={contact} other={other} preview={preview} />
      {problem !== undefined && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
