import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Conversation, MessagePreview } from "../../../../../src/index.ts";
import {
  api,
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
import { sendDraft } from "../state/actions.ts";
import {
  channelOf,
  type Draft,
  isBlank,
  keptOf,
  type Mode,
  setDraft,
  setMode,
} from "../state/drafts.ts";
import { contactVersion } from "../state/live.ts";
import { nameOfAssignee } from "../state/people.ts";
import { reportTyping } from "../state/typing.ts";
import { smsSize } from "./encoding.ts";
import { t } from "../texts.ts";
import { Tools } from "./composer-tools.tsx";
import { uncoverThread } from "../contact/contact-visibility.ts";
import { nameIn } from "../words.ts";

const maxCharacters = 1600;
const maxNoteCharacters = 10_000;
/** Whether CSS lets the area grow with its text. A script has to lay the page out for each key. */
const growsItself = CSS.supports("field-sizing", "content");

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
  const canReply = may("messages:write") && may("conversations:write");
  useShortcuts(
    canReply
      ? [
          { key: "r", label: t("keyReply"), run: () => write("reply") },
          { key: "n", label: t("keyNote"), run: () => write("note") },
          { key: "Ctrl+Enter", label: t("keySend"), run: () => send(), field: area },
        ]
      : [],
  );
  useGrowing(area, draft.body);
  const preview = usePreview(row, reply, isNote);
  const limit = isNote ? maxNoteCharacters : maxCharacters;
  const characters = [...draft.body].length;
  const cannotSend =
    isBlank(draft) || characters > limit || (!isNote && preview?.sendable === false);
  const send = (): void => {
    if (cannotSend) return;
    sendDraft(id);
    area.current?.focus();
  };
  if (!canReply) {
    return (
      <footer class="composer is-readonly">
        <p class="muted">{t("readOnly")}</p>
      </footer>
    );
  }
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
      {!isNote && <Chips id={id} draft={draft} />}
      <div class="composer-bottom">
        {!isNote && <Tools row={row} draft={draft} preview={preview} />}
        <Size row={row} isNote={isNote} draft={draft} characters={characters} limit={limit} />
        <Button
          kind="primary"
          icon={isNote ? "note" : draft.sendAt === null ? "send" : "calendar"}
          disabled={cannotSend}
          onClick={send}
        >
          {t(isNote ? "addNote" : draft.sendAt === null ? "send" : "sendLater")}{" "}
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

const previewDelayMs = 400;

/** What would happen to the reply now, by the server's policies. */
function usePreview(row: Conversation, reply: Draft, isNote: boolean): MessagePreview | undefined {
  const [preview, setPreview] = useState<MessagePreview>();
  const { media, from, sendAt } = reply;
  // The contact may opt out, or in again.
  const version = contactVersion.value.get(row.contact.id) ?? 0;
  const body = reply.body === "" && media.length === 0 ? "…" : reply.body;
  // The text matters only to the host's policies, so a pause in the typing is soon enough.
  useEffect(() => {
    if (isNote) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const input = {
        to: row.contact.id,
        channel: channelOf(row, media),
        body: [...body].slice(0, maxCharacters).join(""),
        ...(media.length > 0 && { media: media.map((url) => ({ url })) }),
        ...(from !== "" && { from }),
        ...(sendAt !== null && { send_at: sendAt }),
      };
      api
        .post<MessagePreview>("v1/messages/preview", input, { signal: stop.signal })
        .then(setPreview)
        // Sending says what is wrong.
        .catch(() => {
          if (!stop.signal.aborted) setPreview(undefined);
        });
    }, previewDelayMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [row.id, version, body, media, from, sendAt, isNote]);
  return isNote ? undefined : preview;
}

interface PoliciesProps {
  readonly row: Conversation;
  readonly preview: MessagePreview;
}

/** What the policies say about the reply, before it is sent. */
function Policies({ row, preview }: PoliciesProps): JSX.Element | null {
  const notes: { readonly text: string; readonly isBad: boolean }[] = [];
  if (preview.consent === "opted_out") {
    notes.push({ text: t("policyOptedOut", { name: nameIn(row) }), isBad: true });
  } else if (preview.from === null) {
    notes.push({ text: t("policyNoSender"), isBad: true });
  }
  for (const { policy, verdict, message, until, code } of preview.verdicts) {
    if (verdict === "allow" || policy === "consent") continue;
    const reason = message ?? code ?? policy;
    if (verdict === "deny") notes.push({ text: t("policyDeny", { reason }), isBad: true });
    else if (until !== undefined) {
      notes.push({ text: t("policyDefer", { time: dayAndTime(until), reason }), isBad: false });
    }
  }
  if (notes.length === 0) return null;
  return (
    <div role="status">
      {notes.map(({ text, isBad }) => (
        <p key={text} class={`notice is-slim tone-${isBad ? "bad" : "warn"}`}>
          <Icon name="alert" />
          <span class="grow">{text}</span>
        </p>
      ))}
    </div>
  );
}

interface DraftProps {
  readonly id: string;
  readonly draft: Draft;
}

/** The attachments and the time of the draft. */
function Chips({ id, draft }: DraftProps): JSX.Element | null {
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
            onClick={() => setDraft(id, "reply", { sendAt: null })}
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
            onClick={() =>
              setDraft(id, "reply", { media: draft.media.filter((each) => each !== url) })
            }
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
