import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Message, Note } from "../../../../../src/index.ts";
import {
  Avatar,
  Button,
  dateTime,
  Icon,
  may,
  Menu,
  StrangerText,
  time,
  toast,
  type MenuItem,
} from "../../../shared/browser/index.ts";
import { removeOutgoing, type Outgoing } from "../state/drafts.ts";
import { nameOfAuthor, personOf } from "../state/people.ts";
import { cancelMessage, editAgain, resend, writeAgain } from "../state/sending.ts";
import { timeOf } from "../state/thread.ts";
import { undoAction } from "../state/undo.ts";
import { t } from "../texts.ts";
import { shownStatus } from "../words.ts";
import { Attachment } from "./attachment.tsx";
import { MessageDetails } from "./message-details.tsx";
import { WhyDialog } from "./why-dialog.tsx";

interface MessageProps {
  readonly message: Message;
  /** The contact's name. */
  readonly contact: string;
  /** Whether the author is the same as that of the message before. */
  readonly isContinued: boolean;
  /** Whether its time is shown, rather than that of the next one from the contact. */
  readonly isTimeShown: boolean;
}

/** One message. */
export function MessageBubble(props: MessageProps): JSX.Element {
  const { message, contact, isContinued, isTimeShown } = props;
  const [dialog, setDialog] = useState<"details" | "why">();
  const { direction, author, body, media, error } = message;
  const at = timeOf(message);
  const isOut = direction === "outbound";
  const isMetaShown = isOut || isTimeShown;
  const status = shownStatus(message);
  const name = nameOfAuthor(author, contact);
  const person = personOf(author.id);
  return (
    <div
      class={`message ${isOut ? "is-out" : "is-in"} ${isContinued ? "is-continued" : ""}`}
      data-status={message.status}
      data-author={author.type}
    >
      {!isOut && (
        <span class="message-avatar">
          {!isContinued && <Avatar name={contact} seed={message.contact_id} />}
        </span>
      )}
      <div class="message-column">
        {!isContinued && (
          <p class="message-author muted">
            {author.type === "agent" && <Icon name="agent" />}
            {author.type === "human" && (
              <Avatar
                name={person?.name ?? name}
                seed={author.id ?? name}
                picture={person?.avatar_url}
                size="small"
              />
            )}
            <bdi class="truncate">{name}</bdi>
          </p>
        )}
        <div class="message-line">
          <div class="bubble">
            {body === null ? (
              <em class="muted">{t("redacted")}</em>
            ) : (
              body !== "" && (
                <p class="message-text" dir="auto">
                  <StrangerText>{body}</StrangerText>
                </p>
              )
            )}
            {media.map(({ url }, index) => (
              <Attachment key={index} url={url} path={`media/${message.id}/${index}`} />
            ))}
          </div>
          <Menu label={t("messageActions")} items={menuOf(message, setDialog)} />
        </div>
        <p class={`message-meta tone-${status.tone} ${isMetaShown ? "" : "visually-hidden"}`}>
          {/* The status of a scheduled message names its time. */}
          {message.status !== "scheduled" && (
            <time dateTime={at} data-tooltip={dateTime(at)}>
              {time(at)}
            </time>
          )}
          {isOut && (
            <span class="message-status">
              <Icon name={status.icon} />
              {status.label}
            </span>
          )}
        </p>
        {error !== null && (
          <div class="message-problem">
            <bdi>{error.message}</bdi>
            {author.type === "human" && isLost(message) && may("messages:write") && (
              <Button isSmall kind="quiet" icon="refresh" onClick={() => writeAgain(message)}>
                {t("messageAgain")}
              </Button>
            )}
          </div>
        )}
      </div>
      {dialog === "details" && (
        <MessageDetails message={message} onClose={() => setDialog(undefined)} />
      )}
      {dialog === "why" && <WhyDialog message={message} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

/** Whether the contact did not get a message, and a person can write it again. */
const isLost = ({ status, body }: Message): boolean =>
  body !== null && ["failed", "undelivered", "expired", "canceled"].includes(status);

function menuOf(message: Message, open: (dialog: "details" | "why") => void): MenuItem[] {
  const { id, body, author, status } = message;
  const items: MenuItem[] = [
    { label: t("messageDetails"), icon: "info", onPick: () => open("details") },
  ];
  if (author.type === "agent") {
    items.push({ label: t("messageWhy"), icon: "agent", onPick: () => open("why") });
  }
  if (body !== null && body !== "" && "clipboard" in navigator) {
    items.push({
      label: t("messageCopy"),
      icon: "copy",
      onPick: () => void navigator.clipboard.writeText(body).catch(() => {}),
    });
  }
  if (status === "scheduled" || status === "queued") {
    items.push({
      label: t("messageCancel"),
      icon: "close",
      isDanger: true,
      onPick: () => void cancelMessage(id),
    });
  }
  if (isLost(message)) {
    items.push({ label: t("messageAgain"), icon: "refresh", onPick: () => writeAgain(message) });
  }
  return items;
}

interface NoteProps {
  readonly note: Note;
  readonly contact: string;
}

/** A note of the staff. */
export function NoteCard({ note, contact }: NoteProps): JSX.Element {
  return (
    <div class="note">
      <p class="note-head">
        <Icon name="note" />
        <strong>{t("note")}</strong>{" "}
        <bdi class="truncate">{nameOfAuthor(note.author, contact)}</bdi>
        <time dateTime={note.created_at} data-tooltip={dateTime(note.created_at)}>
          {time(note.created_at)}
        </time>
      </p>
      <p class="message-text" dir="auto">
        <StrangerText>{note.body}</StrangerText>
      </p>
    </div>
  );
}

interface OutgoingProps {
  readonly id: string;
  readonly message: Outgoing;
}

/** A message that the server does not have yet. */
export function OutgoingBubble({ id, message }: OutgoingProps): JSX.Element {
  const isFailed = message.state === "failed";
  const text = (
    <p class="message-text" dir="auto">
      {message.body}
    </p>
  );
  const problem = message.problem === "" ? t("sendFailed") : message.problem;
  return (
    <div
      class={`message is-out ${isFailed ? "is-failed" : "is-pending"}`}
      data-status={message.state}
    >
      <div class="message-column">
        <div class={message.mode === "note" ? "note" : "bubble"}>
          {text}
          {message.media.map((url) => (
            <Attachment key={url} url={url} />
          ))}
        </div>
        {isFailed ? (
          <div class="message-problem" role="alert">
            <span>{problem}</span>
            <span class="message-buttons">
              <Button isSmall icon="refresh" onClick={() => resend(id, message)}>
                {t("sendAgain")}
              </Button>
              <Button isSmall kind="quiet" onClick={() => editAgain(id, message)}>
                {t("editAgain")}
              </Button>
              <Button isSmall kind="quiet" onClick={() => discard(id, message)}>
                {t("discard")}
              </Button>
            </span>
          </div>
        ) : (
          <p class="message-meta">
            <span class="message-status">
              <Icon name="clock" />
              {t("pending")}
            </span>
          </p>
        )}
      </div>
    </div>
  );
}

function discard(id: string, message: Outgoing): void {
  removeOutgoing(id, message.key);
  toast({
    message: t("discarded"),
    action: undoAction(() => editAgain(id, message)),
  });
}
