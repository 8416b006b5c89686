/** The rows of the list: messages, what is still to be sent, days, and notices of a new author. */
import type { JSX } from "preact";
import type { WebchatMessage } from "../../../../../src/index.ts";
import { SafeLink, StrangerText } from "../../../shared/browser/components/safe-link.tsx";
import type { Chat, ChatState } from "../chat/chat.ts";
import type { Pending } from "../chat/outbox.ts";
import { withName, type Texts } from "../texts.ts";
import { dayName, dayOf, fullTime, shortTime } from "./formats.ts";
import { AgentIcon, FileIcon, PersonIcon } from "./icons.tsx";

/** Messages of one author within this time stand together, in milliseconds. */
const groupMs = 5 * 60_000;

type Side = "agent" | "human" | "business" | "visitor";

const sideOf = ({ direction, author }: WebchatMessage): Side => {
  if (direction === "inbound") return "visitor";
  return author === "agent" || author === "human" ? author : "business";
};

export function rows(
  { messages, pending, conversation }: ChatState,
  texts: Texts,
  chat: Chat,
): readonly JSX.Element[] {
  const shown: JSX.Element[] = [];
  let day = "";
  let speaker: WebchatMessage | undefined;
  messages.forEach((message, i) => {
    const at = Date.parse(message.placed_at);
    const side = sideOf(message);
    if (dayOf(at) !== day) {
      day = dayOf(at);
      shown.push(<Notice key={day} class="day" text={dayName(at, texts)} />);
    }
    if (side === "agent" || side === "human") {
      if (speaker !== undefined && !hasSameAuthor(speaker, message)) {
        const text = side === "human" ? texts.joined : texts.returned;
        const notice = withName(text, texts, side, message.author_name);
        shown.push(<Notice key={`notice ${message.id}`} text={notice} />);
      }
      speaker = message;
    }
    const previous = messages[i - 1];
    const next = messages[i + 1];
    const isLast = next === undefined;
    shown.push(
      <Row
        key={message.id}
        message={message}
        side={side}
        begins={previous === undefined || !isTogether(previous, message)}
        ends={isLast ? side !== "visitor" || pending.length === 0 : !isTogether(message, next)}
        delivery={
          isLast && side === "visitor" && pending.length === 0
            ? texts[message.placed_at <= (conversation.read_at ?? "") ? "read" : "sent"]
            : undefined
        }
        texts={texts}
      />,
    );
  });
  for (const item of pending) {
    shown.push(<PendingRow key={item.client_id} item={item} chat={chat} texts={texts} />);
  }
  return shown;
}

const hasSameAuthor = (one: WebchatMessage, other: WebchatMessage): boolean =>
  sideOf(one) === sideOf(other) && one.author_name === other.author_name;

function isTogether(one: WebchatMessage, next: WebchatMessage): boolean {
  const times = [Date.parse(one.placed_at), Date.parse(next.placed_at)] as const;
  return (
    hasSameAuthor(one, next) && times[1] - times[0] < groupMs && dayOf(times[0]) === dayOf(times[1])
  );
}

const Notice = ({ text, class: kind = "" }: { text: string; class?: string }): JSX.Element => (
  <li class={`notice ${kind}`}>
    <span>{text}</span>
  </li>
);

interface RowProps {
  readonly message: WebchatMessage;
  readonly side: Side;
  /** Whether it is the first or the last of those that stand together. */
  readonly begins: boolean;
  readonly ends: boolean;
  /** The status of the visitor's last message. */
  readonly delivery: string | undefined;
  readonly texts: Texts;
}

function Row({ message, side, begins, ends, delivery, texts }: RowProps): JSX.Element {
  const { body, media, author_name, placed_at } = message;
  const at = Date.parse(placed_at);
  const name = side === "agent" || side === "human" ? (author_name ?? texts[side]) : undefined;
  const isEmpty = (body ?? "") === "" && media.length === 0;
  return (
    <li class={classes(side === "visitor" ? "mine" : "theirs", begins && "begins", ends && "ends")}>
      {side === "visitor" && <span class="hidden">{texts.you}: </span>}
      {begins && name !== undefined && (
        <p class="author">
          {side === "agent" ? <AgentIcon /> : <PersonIcon />}
          <bdi>{name}</bdi>
        </p>
      )}
      {body !== null && body !== "" && (
        <p class="bubble">
          <StrangerText>{body}</StrangerText>
        </p>
      )}
      {isEmpty && <p class="bubble removed">{texts.removed}</p>}
      {media.map(({ url }, i) => (
        <p key={i} class="bubble file">
          <FileIcon />
          <SafeLink url={url}>{fileName(url) ?? texts.file}</SafeLink>
        </p>
      ))}
      {ends && (
        <p class="meta">
          <time dateTime={placed_at} title={fullTime(at)}>
            {shortTime(at)}
          </time>
          {delivery && ` · ${delivery}`}
        </p>
      )}
    </li>
  );
}

function PendingRow({
  item,
  chat,
  texts,
}: {
  readonly item: Pending;
  readonly chat: Chat;
  readonly texts: Texts;
}): JSX.Element {
  const isStuck = item.state === "failed" || item.state === "unconfirmed";
  return (
    <li class={classes("mine", "begins", "ends", "pending", isStuck && "stuck")}>
      <span class="hidden">{texts.you}: </span>
      <p class="bubble">
        <StrangerText>{item.body}</StrangerText>
      </p>
      <p class="meta" role={isStuck ? "alert" : undefined}>
        {texts[item.state]}
        {isStuck && (
          <>
            <button type="button" class="link" onClick={() => chat.retry(item)}>
              {texts.retry}
            </button>
            <button type="button" class="link" onClick={() => chat.discard(item)}>
              {texts.discard}
            </button>
          </>
        )}
      </p>
    </li>
  );
}

const classes = (...names: readonly (string | false)[]): string =>
  ["row", ...names].filter((name) => name !== false).join(" ");

/** The last part of an address, if it names a file. */
function fileName(url: string): string | undefined {
  const name = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return /\.\w{1,8}$/.test(name) ? decodeURIComponent(name).slice(0, 80) : undefined;
  } catch {
    return undefined;
  }
}
