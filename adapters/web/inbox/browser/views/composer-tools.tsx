import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Conversation, Page, Sender } from "../../../../../src/index.ts";
import {
  api,
  Button,
  dayAndTime,
  Dialog,
  IconButton,
  Picker,
  Select,
  TextField,
  webAddress,
} from "../../../shared/browser/index.ts";
import { type Draft, setDraft } from "../state/drafts.ts";
import { t } from "../texts.ts";
import { snoozeChoices } from "../times.ts";
import { TimeDialog } from "./time-dialog.tsx";

const maxMedia = 10;

interface ToolsProps {
  readonly row: Conversation;
  readonly draft: Draft;
}

type OpenedTool = "attach" | "schedule" | "schedule-at" | undefined;

/** Attachments, a later time and the sender of a reply. */
export function Tools({ row, draft }: ToolsProps): JSX.Element {
  const [opened, setOpened] = useState<OpenedTool>();
  const anchor = useRef<HTMLButtonElement>(null);
  const close = (): void => setOpened(undefined);
  const senders = useSenders(row);
  const choices = snoozeChoices(new Date());
  return (
    <div class="composer-tools">
      <IconButton icon="paperclip" label={t("attach")} onClick={() => setOpened("attach")} />
      <IconButton
        icon="calendar"
        label={t("schedule")}
        buttonRef={anchor}
        onClick={() => setOpened(opened === "schedule" ? undefined : "schedule")}
      />
      {senders.length > 1 && (
        <span class="composer-sender">
          <Select
            label={t("sender")}
            isLabelHidden
            value={draft.from}
            options={[
              { value: "", label: t("senderDefault") },
              ...senders.map(({ address }) => ({ value: address, label: address })),
            ]}
            onChange={({ currentTarget }) => setDraft(row.id, { from: currentTarget.value })}
          />
        </span>
      )}
      {opened === "attach" && <AttachDialog id={row.id} draft={draft} onClose={close} />}
      {opened === "schedule" && (
        <Picker
          anchor={anchor}
          label={t("scheduleFor")}
          onClose={close}
          options={[
            ...choices.map(({ id, label, at }) => ({ id, label, hint: dayAndTime(at) })),
            { id: "at", label: t("snoozeCustom") },
          ]}
          onPick={(picked) => {
            const at = choices.find(({ id }) => id === picked)?.at;
            if (at === undefined) setOpened("schedule-at");
            else setDraft(row.id, { sendAt: at.toISOString() });
          }}
        />
      )}
      {opened === "schedule-at" && (
        <TimeDialog
          title={t("scheduleFor")}
          label={t("scheduleFor")}
          confirm={t("schedule")}
          onPick={(at) => setDraft(row.id, { sendAt: at.toISOString() })}
          onClose={close}
        />
      )}
    </div>
  );
}

const sendersOf = new Map<string, readonly Sender[]>();

/** The senders that can carry the conversation's medium. */
function useSenders({ medium }: Conversation): readonly Sender[] {
  const channel = medium === "webchat" ? "webchat" : "sms";
  const [senders, setSenders] = useState(sendersOf.get(channel) ?? []);
  useEffect(() => {
    if (sendersOf.has(channel)) return;
    api
      .get<Page<Sender>>("v1/senders", { limit: 100 })
      .then(({ data }) => {
        sendersOf.set(
          channel,
          data.filter((each) => each.channels.includes(channel)),
        );
        setSenders(sendersOf.get(channel) ?? []);
      })
      // The usual sender is used.
      .catch(() => {});
  }, [channel]);
  return senders;
}

interface AttachDialogProps {
  /** The id of the conversation. */
  readonly id: string;
  readonly draft: Draft;
  readonly onClose: () => void;
}

function AttachDialog({ id, draft, onClose }: AttachDialogProps): JSX.Element {
  const [url, setUrl] = useState("");
  const [problem, setProblem] = useState<string>();
  const add = (): void => {
    const address = webAddress(url.trim());
    if (address === undefined) setProblem(t("attachInvalid"));
    else if (draft.media.length >= maxMedia) setProblem(t("attachTooMany", { count: maxMedia }));
    else {
      setDraft(id, { media: [...draft.media.filter((each) => each !== address), address] });
      onClose();
    }
  };
  return (
    <Dialog
      title={t("attach")}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={url.trim() === ""} onClick={add}>
          {t("attachAdd")}
        </Button>
      }
    >
      <TextField
        label={t("attachUrl")}
        hint={t("attachHint")}
        type="url"
        maxLength={2000}
        value={url}
        problem={problem}
        onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") add();
        }}
      />
    </Dialog>
  );
}
