import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Conversation, MessagePreview } from "../../../../../src/index.ts";
import {
  Button,
  Dialog,
  IconButton,
  Select,
  TextField,
  webAddress,
} from "../../../shared/browser/index.ts";
import { setDraft, type Draft } from "../state/drafts.ts";
import { t } from "../texts.ts";
import { TimeDialog } from "./time-dialog.tsx";
import { TimePicker } from "./time-picker.tsx";

const maxMedia = 10;

interface ToolsProps {
  readonly row: Conversation;
  readonly draft: Draft;
  readonly preview: MessagePreview | undefined;
}

type OpenedTool = "attach" | "schedule" | "schedule-at" | undefined;

/** Attachments, a later time and the sender of a reply. */
export function Tools({ row, draft, preview }: ToolsProps): JSX.Element {
  const [opened, setOpened] = useState<OpenedTool>();
  const anchor = useRef<HTMLButtonElement>(null);
  const close = (): void => setOpened(undefined);
  const schedule = (at: Date): void => setDraft(row.id, "reply", { sendAt: at.toISOString() });
  return (
    <div class="composer-tools">
      <IconButton icon="paperclip" label={t("attach")} onClick={() => setOpened("attach")} />
      <IconButton
        icon="calendar"
        label={t("schedule")}
        buttonRef={anchor}
        onClick={() => setOpened(opened === "schedule" ? undefined : "schedule")}
      />
      <SenderChoice row={row} draft={draft} preview={preview} />
      {opened === "attach" && <AttachDialog id={row.id} draft={draft} onClose={close} />}
      {opened === "schedule" && (
        <TimePicker
          anchor={anchor}
          label={t("scheduleFor")}
          onPick={schedule}
          onEnter={() => setOpened("schedule-at")}
          onClose={close}
        />
      )}
      {opened === "schedule-at" && (
        <TimeDialog
          title={t("scheduleFor")}
          label={t("scheduleFor")}
          confirm={t("schedule")}
          onPick={schedule}
          onClose={close}
        />
      )}
    </div>
  );
}

/** The senders that can carry the draft, if there is a choice. */
function SenderChoice({ row, draft, preview }: ToolsProps): JSX.Element | null {
  const addresses = [...(preview?.senders ?? [])];
  // What was chosen stays visible, even if it cannot carry an attachment that was added later.
  if (draft.from !== "" && !addresses.includes(draft.from)) addresses.push(draft.from);
  if (addresses.length < 2) return null;
  const usual = draft.from === "" ? preview?.from : undefined;
  return (
    <span class="composer-sender">
      <Select
        label={t("sender")}
        isLabelHidden
        value={draft.from}
        options={[
          { value: "", label: usual ? t("senderUsual", { address: usual }) : t("senderDefault") },
          ...addresses.map((address) => ({ value: address, label: address })),
        ]}
        onChange={(from) => setDraft(row.id, "reply", { from })}
      />
    </span>
  );
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
      setDraft(id, "reply", {
        media: [...draft.media.filter((each) => each !== address), address],
      });
      onClose();
    }
  };
  return (
    <Dialog
      title={t("attach")}
      onClose={onClose}
      onSubmit={add}
      actions={
        <Button kind="primary" type="submit" disabled={url.trim() === ""}>
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
        onChange={setUrl}
      />
    </Dialog>
  );
}
