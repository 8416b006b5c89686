import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Observation, Page } from "../../../../../src/index.ts";
import {
  api,
  Button,
  dateTime,
  IconButton,
  may,
  shortTime,
  TextField,
  toastError,
  unsentBefore,
  useAction,
  useSendOnce,
} from "../../../shared/browser/index.ts";
import { observationDraftId, observationDrafts } from "../state/drafts.ts";
import { now } from "../state/now.ts";
import { t } from "../texts.ts";
import { Loaded, Section, useContactResource } from "./section.tsx";

const sources = {
  human: () => t("sourceHuman"),
  api: () => t("sourceApi"),
  model: () => t("sourceModel"),
  rule: () => t("sourceRule"),
};

interface ObservationsProps {
  /** The id of the contact. */
  readonly id: string;
  /** The conversation in which a new observation is noted. Undefined on the page of a contact. */
  readonly conversationId?: string;
}

/** What is noted about the person, to read and to add to. */
export function Observations({ id, conversationId }: ObservationsProps): JSX.Element {
  const draftId = observationDraftId(id);
  const typed = observationDrafts.of(draftId).value;
  const setTyped = (text: string): void => observationDrafts.set(draftId, text);
  const observations = useContactResource(id, (signal) =>
    api.get<Page<Observation>>(`v1/contacts/${id}/observations`, { query: { limit: 50 }, signal }),
  );
  const [isBusy, setBusy] = useState(false);
  const sendOnce = useSendOnce();
  const add = async (): Promise<void> => {
    setBusy(true);
    // At once, so that what is typed meanwhile stays.
    setTyped("");
    try {
      const note = { content: typed.trim(), kind: "note", conversation_id: conversationId };
      await sendOnce(JSON.stringify(note), (key) =>
        api.post<void>(`v1/contacts/${id}/observations`, note, { key }),
      );
    } catch (error) {
      setTyped(unsentBefore(typed, observationDrafts.of(draftId).peek()));
      toastError(error);
    } finally {
      setBusy(false);
    }
    await observations.reload();
  };
  const canWrite = may("contacts:write");
  return (
    <Section title={t("observations")}>
      <Loaded of={observations} height="1lh">
        {({ data }) => data.length === 0 && <p class="muted">{t("observationsNone")}</p>}
      </Loaded>
      <ul class="observations">
        {observations.data?.data.map(({ id: each, content, source, created_at }) => (
          <li key={each} class="observation">
            <div class="grow">
              <p dir="auto">{content}</p>
              <p class="muted" data-tooltip={dateTime(created_at)}>
                {sources[source]()} · {shortTime(created_at, now.value)}
              </p>
            </div>
            {canWrite && (
              <RemoveButton
                path={`v1/contacts/${id}/observations/${each}`}
                onRemoved={() => observations.reload()}
              />
            )}
          </li>
        ))}
      </ul>
      {canWrite && (
        <form
          class="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() !== "" && !isBusy) void add();
          }}
        >
          <TextField
            label={t("observationNew")}
            isLabelHidden
            placeholder={t("observationNew")}
            maxLength={1000}
            value={typed}
            onChange={setTyped}
          />
          <Button type="submit" isBusy={isBusy} disabled={typed.trim() === ""}>
            {t("observationAdd")}
          </Button>
        </form>
      )}
    </Section>
  );
}

interface RemoveButtonProps {
  readonly path: string;
  readonly onRemoved: () => Promise<void>;
}

function RemoveButton({ path, onRemoved }: RemoveButtonProps): JSX.Element {
  const remove = useAction(async () => {
    await api.delete(path);
    await onRemoved();
  });
  return <IconButton icon="close" isSmall label={t("observationRemove")} {...remove} />;
}
