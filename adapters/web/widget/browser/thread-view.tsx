/** The messages, in groups by author and day. */
import { Component, createRef, type JSX } from "preact";
import type { WebchatMessage } from "../../../../src/index.ts";
import { SafeLink, StrangerText } from "../../shared/browser/components/safe-link.tsx";
import type { Chat, ChatState } from "./chat.ts";
import { dayName, dayOf, fullTime, shortTime } from "./formats.ts";
import { AgentIcon, DownIcon, FileIcon, PersonIcon } from "./icons.tsx";
import type { Pending } from "./outbox.ts";
import type { Texts } from "./texts.ts";

interface ThreadProps {
  readonly chat: Chat;
  readonly state: ChatState;
  readonly texts: Texts;
}

interface ThreadState {
  /** Whether messages arrived below what is shown. */
  readonly hasNewer: boolean;
}

/** Near enough to the end to follow new messages, in pixels. */
const nearEnd = 80;

export class ThreadView extends Component<ThreadProps, ThreadState> {
  override state = { hasNewer: false };
  readonly #list = createRef<HTMLDivElement>();
  readonly #resized = new ResizeObserver(() => {
    if (this.#isAtEnd) this.#toEnd();
  });
  #isAtEnd = true;
  #height = 0;

  override componentDidMount(): void {
    if (this.#list.current !== null) this.#resized.observe(this.#list.current);
    this.#toEnd();
  }

  override componentWillUnmount(): void {
    this.#resized.disconnect();
  }

  override getSnapshotBeforeUpdate(): null {
    this.#height = this.#list.current?.scrollHeight ?? 0;
    return null;
  }

  override componentDidUpdate(before: ThreadProps): void {
    const list = this.#list.current;
    if (list === null) return;
    const { messages, pending } = this.props.state;
    const [first] = before.state.messages;
    const hasOlder = first !== undefined && messages[0]?.id !== first.id;
    const wrote = pending.length > before.state.pending.length;
    const arrived = messages.at(-1)?.id !== before.state.messages.at(-1)?.id;
    if (this.#isAtEnd || wrote) this.#toEnd();
    // What was shown stays where it is while earlier messages come above it.
    else if (hasOlder) list.scrollTop += list.scrollHeight - this.#height;
    else if (arrived && !this.state.hasNewer) this.setState({ hasNewer: true });
  }

  #toEnd(): void {
    const list = this.#list.current;
    if (list !== null) list.scrollTop = list.scrollHeight;
    this.#isAtEnd = true;
    if (this.state.hasNewer) this.setState({ hasNewer: false });
  }

  readonly #onScroll = (): void => {
    const list = this.#list.current;
    if (list === null) return;
    this.#isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
    if (this.#isAtEnd && this.state.hasNewer) this.setState({ hasNewer: false });
    if (list.scrollTop < nearEnd && this.props.state.hasOlder) void this.props.chat.loadOlder();
  };

  override render(): JSX.Element {
    const { chat, state, texts } = this.props;
    const isLoading = state.phase === "loading" && state.messages.length === 0;
    return (
      <div class="middle">
        <div
          class="list"
          ref={this.#list}
          role="region"
          aria-label={texts.title}
          aria-busy={isLoading}
          tabIndex={0}
          onScroll={this.#onScroll}
        >
          {state.hasOlder ? (
            <button type="button" class="quiet" onClick={() => void chat.loadOlder()}>
              {texts.earlier}
            </button>
          ) : (
            !isLoading && <Greeting texts={texts} />
          )}
          {isLoading && <Loading texts={texts} />}
          <ol>{rows(state, texts, chat)}</ol>
        </div>
        {this.state.hasNewer && (
          <button type="button" class="newest" onClick={() => this.#toEnd()}>
            <DownIcon />
            {texts.newest}
          </button>
        )}
      </div>
    );
  }
}

function Greeting({ texts }: { readonly texts: Texts }): JSX.Element | null {
  if (texts.greeting === "") return null;
  return (
    <div class="row theirs ends">
      <p class="bubble">{texts.greeting}</p>
    </div>
  );
}

function Loading({ texts }: { readonly texts: Texts }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={texts.loading}>
      <i />
      <i />
      <i />
    </div>
  );
}

/** Messages of one author within this time stand together, in milliseconds. */
const groupMs = 5 * 60_000;

type Side = "agent" | "human" | "business" | "visitor";

const sideOf = ({ direction, author }: WebchatMessage): Side => {
  if (direction === "inbound") return "visitor";
  return author === "agent" || author === "human" ? author : "business";
};

function rows({ messages, pending }: ChatState, texts: Texts, chat: Chat): readonly JSX.Element[] {
  const shown: JSX.Element[] = [];
  let day = "";
  let speaker: Side | undefined;
  messages.forEach((message, i) => {
    const at = Date.parse(message.created_at);
    const side = sideOf(message);
    if (dayOf(at) !== day) {
      day = dayOf(at);
      shown.push(<Notice key={day} class="day" text={dayName(at, texts)} />);
    }
    if (side === "human" && speaker === "agent") {
      shown.push(<Notice key={`joined ${message.id}`} text={texts.joined} />);
    } else if (side === "agent" && speaker === "human") {
      shown.push(<Notice key={`returned ${message.id}`} text={texts.returned} />);
    }
    if (side === "agent" || side === "human") speaker = side;
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
        isConfirmed={isLast && side === "visitor" && pending.length === 0}
        texts={texts}
      />,
    );
  });
  for (const item of pending) {
    shown.push(<PendingRow key={item.client_id} item={item} chat={chat} texts={texts} />);
  }
  return shown;
}

function isTogether(one: WebchatMessage, next: WebchatMessage): boolean {
  const times = [Date.parse(one.created_at), Date.parse(next.created_at)] as const;
  return (
    sideOf(one) === sideOf(next) &&
    times[1] - times[0] < groupMs &&
    dayOf(times[0]) === dayOf(times[1])
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
  /** Whether to say that it was sent. */
  readonly isConfirmed: boolean;
  readonly texts: Texts;
}

function Row({ message, side, begins, ends, isConfirmed, texts }: RowProps): JSX.Element {
  const { body, media, created_at } = message;
  const at = Date.parse(created_at);
  const name = side === "agent" || side === "human" ? texts[side] : undefined;
  const isEmpty = (body ?? "") === "" && media.length === 0;
  return (
    <li class={classes(side === "visitor" ? "mine" : "theirs", begins && "begins", ends && "ends")}>
      {side === "visitor" && <span class="hidden">{texts.you}: </span>}
      {begins && name !== undefined && (
        <p class="author">
          {side === "agent" ? <AgentIcon /> : <PersonIcon />}
          {name}
        </p>
      )}
      {body !== null && body !== "" && (
        <p class="bubble" dir="auto">
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
          <time dateTime={created_at} title={fullTime(at)}>
            {shortTime(at)}
          </time>
          {isConfirmed && ` · ${texts.sent}`}
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
      <p class="bubble" dir="auto">
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
