import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Button,
  dayAndTime,
  Icon,
  IconButton,
  isComposing,
  Keys,
  may,
  Tabs,
  useShortcuts,
} from "../../../shared/browser/index.ts";
import { uncoverThread } from "../contact/contact-visibility.ts";
import {
  isBlank,
  keptOf,
  maxCharacters,
  setDraft,
  setMode,
  type Draft,
  type Mode,
} from "../state/drafts.ts";
import { nameOfAssignee } from "../state/people.ts";
import { sendDraft } from "../state/sending.ts";
import { reportTyping } from "../state/typing.ts";
import { t } from "../texts.ts";
import { nameIn } from "../words.ts";
import { closeAndLeave, nextAfter } from "./close-and-leave.ts";
import { Tools } from "./composer-tools.tsx";
import { smsSize } from "./encoding.ts";
import { Policies, usePreview } from "./reply-preview.tsx";

/** Whether CSS lets the area grow with its text. A script has to lay the page out for each key. */
const growsItself = CSS.supports("field-sizing", "content");

/** The conversation whose reply gets the cursor once the conversation is shown. */
const nextReply = signal<string | undefined>(undefined);

/** Puts the cursor into the reply of a conversation once it is shown. */
export function writeReplySoon(id: string): void {
  nextReply.value = id;
}

/** Where a person writes a reply or a note. What is typed is kept until it is sent. */
export function Composer({ row }: { readonly row: Conversation }): JSX.Element {
  const { id } = row;
  const { mode, reply, note } = keptOf(id).value;
  const area = useRef<HTMLTextAreaElement>(null);
  const isNote = mode === "note";
  const draft = isNote ? note : reply;
  const write = (next: Mode): void => {
    uncoverThread();
    setMode(id, next);
    area.current?.focus();
  };
  const isAwaited = nextReply.value === id;
  // After the page is drawn: until then, the dialog that asked for it may still hold the focus.
  useEffect(() => {
    if (!isAwaited) return;
    nextReply.value = undefined;
    write("reply");
  }, [isAwaited]);
  const canReply = may("messages:write") && may("conversations:write");
  useShortcuts(
    t("reply"),
    canReply
      ? [
          { key: "r", label: t("keyReply"), run: () => write("reply") },
          { key: "n", label: t("keyNote"), run: () => write("note") },
          { key: "Ctrl+Enter", label: t("keySend"), run: () => void send(), field: area },
          {
            key: "Ctrl+Shift+Enter",
            label: t("keySendAndClose"),
            run: () => void sendAndClose(),
            field: area,
          },
        ]
      : [],
  );
  useGrowing(area, draft.body);
  const preview = usePreview(row, reply, isNote);
  const limit = maxCharacters[mode];
  const characters = [...draft.body].length;
  const cannotSend =
    isBlank(draft) || characters > limit || (!isNote && preview?.sendable === false);
  const send = async (): Promise<boolean> => {
    if (cannotSend) return false;
    area.current?.focus();
    return sendDraft(id);
  };
  const sendAndClose = async (): Promise<void> => {
    // The reply may move the conversation to another place in the list.
    const next = nextAfter(id);
    if (await send()) await closeAndLeave(id, next);
  };
  if (!canReply) {
    return (
      <footer class="composer is-readonly">
        <p class="muted">{t("readOnly")}</p>
      </footer>
    );
  }
  const sendName = t(isNote ? "addNote" : draft.sendAt === null ? "send" : "sendLater");
  const label = isNote ? t("notePlaceholder") : t("replyTo", { name: nameIn(row) });
  return (
    <footer class={`composer ${isNote ? "is-note" : ""}`}>
      <div class="composer-top">
        <Tabs
          label={t("reply")}
          active={mode}
          onChange={write}
          tabs={[
            { id: "reply", label: t("reply"), mark: markOf(isNote, reply) },
            { id: "note", label: t("noteMode"), mark: markOf(!isNote, note) },
          ]}
        />
        {!isNote && <Situation row={row} />}
      </div>
      {!isNote && preview !== undefined && <Policies row={row} preview={preview} />}
      <textarea
        ref={area}
        class="composer-area"
        rows={2}
        dir="auto"
        aria-label={label}
        placeholder={isNote ? t("notePlaceholder") : t("replyPlaceholder")}
        value={draft.body}
        onInput={({ currentTarget: { value: body } }) => {
          setDraft(id, mode, { body });
          if (!isNote) reportTyping(row, body);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !isComposing(event)) event.currentTarget.blur();
        }}
      />
      {!isNote && <Chips id={id} draft={draft} onRemove={() => area.current?.focus()} />}
      <div class="composer-bottom">
        {!isNote && <Tools row={row} draft={draft} preview={preview} />}
        <Size row={row} isNote={isNote} draft={draft} characters={characters} limit={limit} />
        <IconButton
          kind="secondary"
          icon="check"
          label={t("andClose", { action: sendName })}
          shortcut="Ctrl+Shift+Enter"
          disabled={cannotSend}
          onClick={() => void sendAndClose()}
        />
        <Button
          kind="primary"
          icon={isNote ? "note" : draft.sendAt === null ? "send" : "calendar"}
          disabled={cannotSend}
          onClick={() => void send()}
        >
          {sendName}{" "}
          <span class="hide-on-touch composer-keys" aria-hidden="true">
            <Keys of="Ctrl+Enter" />
          </span>
        </Button>
      </div>
    </footer>
  );
}

/** Marks the tab whose draft is not shown, if it has one. */
const markOf = (isHidden: boolean, draft: Draft): string | undefined =>
  isHidden && !isBlank(draft) ? t("rowDraft") : undefined;

/** What a reply causes besides. */
function Situation({ row }: { readonly row: Conversation }): JSX.Element | null {
  const { status, handler, assignee } = row;
  const text =
    status === "closed"
      ? t("closedNotice")
      : handler === "ai" && assignee !== null
        ? t("agentAnswers", { name: nameOfAssignee(assignee) })
        : undefined;
  return text === undefined ? null : <span class="composer-hint muted">{text}</span>;
}

/** Lets the area grow with its text, up to the height in its style. */
function useGrowing(area: { readonly current: HTMLTextAreaElement | null }, body: string): void {
  useLayoutEffect(() => {
    if (area.current === null || growsItself) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight + 2}px`;
  }, [body]);
}

interface ChipsProps {
  readonly id: string;
  readonly draft: Draft;
  /** The button that removed something, and may have the focus, goes. */
  readonly onRemove: () => void;
}

/** The attachments and the time of the draft. */
function Chips({ id, draft, onRemove }: ChipsProps): JSX.Element | null {
  const change = (fields: Partial<Draft>): void => {
    setDraft(id, "reply", fields);
    onRemove();
  };
  if (draft.media.length === 0 && draft.sendAt === null) return null;
  return (
    <ul class="chips">
      {draft.sendAt !== null && (
        <li class="chip">
          <Icon name="calendar" />
          {t("scheduledFor", { time: dayAndTime(draft.sendAt) })}
          <IconButton
            icon="close"
            isSmall
            label={t("scheduleClear")}
            onClick={() => change({ sendAt: null })}
          />
        </li>
      )}
      {draft.media.map((url) => (
        <li key={url} class="chip">
          <Icon name="paperclip" />
          <bdi class="truncate">{url}</bdi>
          <IconButton
            icon="close"
            isSmall
            label={t("attachRemove", { url })}
            onClick={() => change({ media: draft.media.filter((each) => each !== url) })}
          />
        </li>
      ))}
    </ul>
  );
}

interface SizeProps {
  readonly row: Conversation;
  readonly isNote: boolean;
  readonly draft: Draft;
  readonly characters: number;
  readonly limit: number;
}

/** How long the text is, and for an SMS its parts and encoding. */
function Size({ row, isNote, draft, characters, limit }: SizeProps): JSX.Element {
  const over = characters - limit;
  if (over > 0) {
    return (
      <p class="size is-over grow" role="status">
        {t("overLimit", { count: over })}
      </p>
    );
  }
  const isSms = !isNote && row.medium === "text" && draft.media.length === 0;
  if (!isSms || draft.body === "") return <span class="grow" />;
  const { encoding, parts, remaining, culprit } = smsSize(draft.body);
  const why = culprit === null ? undefined : t("encodingWhy", { character: culprit });
  return (
    <p class="size muted grow">
      <span data-tooltip={t("remaining", { count: remaining })}>
        <span aria-hidden="true">{t("remainingShort", { count: remaining })}</span>
        <span class="visually-hidden">{t("remaining", { count: remaining })}</span>
      </span>
      <span>{t("segments", { count: parts })}</span>
      <span class={culprit === null ? "" : "size-culprit"} data-tooltip={why}>
        {encoding === "GSM-7" ? t("encodingGsm") : t("encodingUcs")}
        {culprit !== null && (
          <>
            {" "}
            <bdi>“{culprit}”</bdi>
            <span class="visually-hidden">{why}</span>
          </>
        )}
      </span>
    </p>
  );
}
