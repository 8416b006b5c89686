/** Where the visitor writes. */
import { Component, createRef, type JSX } from "preact";
import { isComposing } from "../../../shared/browser/keyboard/composing.ts";
import type { Chat } from "../chat/chat.ts";
import type { Memory } from "../memory.ts";
import { withCount, type Texts } from "../texts.ts";
import { SendIcon } from "./icons.tsx";

interface ComposerProps {
  readonly chat: Chat;
  readonly drafts: Memory;
  readonly mayWrite: boolean;
  readonly texts: Texts;
}

interface ComposerState {
  readonly body: string;
}

/** The engine's limit, in code points. */
const maxCharacters = 1_600;
/** From this number of characters on, the number of the remaining ones is shown. */
const shownFrom = 1_400;

/** The field and its button. A text that is not sent yet survives a reload of the tab. */
export class Composer extends Component<ComposerProps, ComposerState> {
  override state = { body: this.props.drafts.recall<string>("draft") ?? "" };
  readonly #field = createRef<HTMLTextAreaElement>();

  override componentDidMount(): void {
    this.#fit();
    this.#field.current?.focus({ preventScroll: true });
  }

  override componentDidUpdate(): void {
    this.#fit();
  }

  /** The field grows with its text, up to the limit in the style sheet. */
  #fit(): void {
    const field = this.#field.current;
    if (field === null) return;
    field.style.height = "0";
    field.style.height = `${field.scrollHeight}px`;
  }

  #set(body: string): void {
    this.props.drafts.remember("draft", body === "" ? undefined : body);
    this.setState({ body });
  }

  readonly #submit = (event: Event): void => {
    event.preventDefault();
    const body = this.state.body.trim();
    if (body === "" || [...body].length > maxCharacters || !this.props.mayWrite) return;
    this.props.chat.send(body);
    this.#set("");
    this.#field.current?.focus();
  };

  readonly #onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) this.#submit(event);
  };

  override render(): JSX.Element {
    const { mayWrite, texts } = this.props;
    const { body } = this.state;
    const left = maxCharacters - [...body].length;
    const hint = mayWrite
      ? left <= maxCharacters - shownFrom && withCount(texts.left, left)
      : texts.tooMany;
    return (
      <form class="composer" onSubmit={this.#submit}>
        <textarea
          ref={this.#field}
          rows={1}
          dir="auto"
          value={body}
          placeholder={texts.placeholder}
          aria-label={texts.placeholder}
          aria-invalid={left < 0}
          enterkeyhint="send"
          onInput={({ currentTarget: { value } }) => {
            this.#set(value);
            if (value.trim() !== "") this.props.chat.type();
          }}
          onKeyDown={this.#onKeyDown}
        />
        <button
          type="submit"
          class="send"
          aria-label={texts.send}
          disabled={body.trim() === "" || left < 0 || !mayWrite}
        >
          <SendIcon />
        </button>
        {hint !== false && (
          <p class={left < 0 ? "hint bad" : "hint"} role="status">
            {hint}
          </p>
        )}
      </form>
    );
  }
}
