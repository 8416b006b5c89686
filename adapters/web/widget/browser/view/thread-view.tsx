/** The list of messages, and where it is scrolled to. */
import { Component, createRef, type JSX } from "preact";
import type { WebchatTyping } from "../../../../../src/index.ts";
import type { Chat, ChatState } from "../chat/chat.ts";
import { withName, type Texts } from "../texts.ts";
import { DownIcon } from "./icons.tsx";
import { rows } from "./rows.tsx";

interface ThreadProps {
  readonly chat: Chat;
  readonly state: ChatState;
  readonly texts: Texts;
}

interface ThreadState {
  /** Whether messages arrived below what is shown. */
  readonly hasNewer: boolean;
}

/** The distance from the end, in pixels, within which the list follows new messages. */
const nearEnd = 80;

export class ThreadView extends Component<ThreadProps, ThreadState> {
  override state = { hasNewer: false };
  readonly #list = createRef<HTMLDivElement>();
  readonly #resized = new ResizeObserver(() => {
    this.#width = this.#list.current?.clientWidth;
    if (this.#isAtEnd) this.#toEnd();
  });
  #isAtEnd = true;
  #width: number | undefined;
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
    // If the first message is gone, a page of the newest messages has replaced all that was shown.
    const isKept = first !== undefined && messages.some(({ id }) => id === first.id);
    const hasOlder = isKept && messages[0]?.id !== first.id;
    const wrote = pending.length > before.state.pending.length;
    const arrived = messages.at(-1)?.id !== before.state.messages.at(-1)?.id;
    if (this.#isAtEnd || wrote) this.#toEnd();
    // What was shown stays where it is while earlier messages come above it.
    else if (hasOlder) list.scrollTop += list.scrollHeight - this.#height;
    else if (arrived && !this.state.hasNewer) this.setState({ hasNewer: true });
    // A visitor who is at the beginning already cannot load more by scrolling.
    if (!isKept && !this.#isAtEnd) this.#loadAtBeginning();
  }

  #loadAtBeginning(): void {
    const { chat, state } = this.props;
    const isThere = (this.#list.current?.scrollTop ?? nearEnd) < nearEnd;
    if (isThere && state.hasOlder) void chat.loadOlder();
  }

  #toEnd(): void {
    const list = this.#list.current;
    if (list !== null) list.scrollTop = list.scrollHeight;
    this.#isAtEnd = true;
    if (this.state.hasNewer) this.setState({ hasNewer: false });
  }

  /** The list takes the focus, since the button that had it goes. */
  readonly #goToEnd = (): void => {
    this.#toEnd();
    this.#list.current?.focus();
  };

  readonly #onScroll = (): void => {
    const list = this.#list.current;
    // A new width wraps texts anew, which also scrolls the list. The observer runs next. It needs
    // to know whether the list was at its end before that.
    if (list === null || list.clientWidth !== this.#width) return;
    this.#isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < nearEnd;
    if (this.#isAtEnd && this.state.hasNewer) this.setState({ hasNewer: false });
    this.#loadAtBeginning();
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
          <Typing typing={state.typing} texts={texts} />
        </div>
        {this.state.hasNewer && (
          <button type="button" class="newest" onClick={this.#goToEnd}>
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

interface TypingProps {
  readonly typing: WebchatTyping | undefined;
  readonly texts: Texts;
}

/** Who is typing. The element is always there, so that screen readers notice its text. */
const Typing = ({ typing, texts }: TypingProps): JSX.Element => (
  <div role="status" class={typing && "row begins typing"}>
    {typing && (
      <p class="bubble">
        <i />
        <i />
        <i />
        <span class="hidden">
          {withName(texts.typing, texts, typing.author, typing.author_name)}
        </span>
      </p>
    )}
  </div>
);

function Loading({ texts }: { readonly texts: Texts }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={texts.loading}>
      <i />
      <i />
      <i />
    </div>
  );
}
