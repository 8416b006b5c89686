/** The button and the panel. */
import type { JSX } from "preact";
import { isComposing } from "../../../shared/browser/keyboard/composing.ts";
import type { Chat, ChatState } from "../chat/chat.ts";
import type { Memory } from "../memory.ts";
import { withCount, type Texts } from "../texts.ts";
import { Composer } from "./composer.tsx";
import { ChatIcon, CloseIcon, DownIcon } from "./icons.tsx";
import { ThreadView } from "./thread-view.tsx";

interface WidgetProps {
  readonly chat: Chat;
  readonly state: ChatState;
  readonly drafts: Memory;
  readonly texts: Texts;
}

/** A higher number of unread messages is shown as `9+`. */
const maxShown = 9;

export function Widget({ chat, state, drafts, texts }: WidgetProps): JSX.Element {
  const { isOpen, unread, latest } = state;
  const label = unread > 0 ? withCount(texts.unread, unread) : texts.open;
  return (
    <div class={isOpen ? "widget open" : "widget"}>
      {isOpen && <Panel chat={chat} state={state} drafts={drafts} texts={texts} />}
      <button
        type="button"
        class="launcher"
        aria-label={isOpen ? texts.close : label}
        aria-expanded={isOpen}
        onClick={() => (isOpen ? chat.close() : chat.open())}
      >
        {isOpen ? <DownIcon /> : <ChatIcon />}
        {!isOpen && unread > 0 && (
          <span class="badge">{unread > maxShown ? `${maxShown}+` : unread}</span>
        )}
      </button>
      <div class="hidden" role="log" aria-live="polite">
        {latest !== undefined && (
          <p key={latest.id}>
            {latest.author === "agent" || latest.author === "human"
              ? `${latest.author_name ?? texts[latest.author]}: `
              : ""}
            {latest.body === null ? texts.removed : latest.body || texts.file}
          </p>
        )}
      </div>
    </div>
  );
}

function Panel({ chat, state, drafts, texts }: WidgetProps): JSX.Element {
  const { phase, isInterrupted, mayWrite, conversation } = state;
  const { assignee, queued } = conversation;
  const unassigned = queued ? texts.queued : texts.subtitle;
  const subtitle = assignee === null ? unassigned : (assignee.name ?? texts[assignee.type]);
  return (
    <div
      class="panel"
      role="dialog"
      aria-label={texts.title}
      onKeyDown={(event) => onKeyDown(event, chat)}
    >
      {/* A `header` element would be a second banner of the website. */}
      <div class="head">
        <span class="emblem">
          <ChatIcon />
        </span>
        <div>
          <h2>{texts.title}</h2>
          {subtitle !== "" && (
            <p>
              <bdi>{subtitle}</bdi>
            </p>
          )}
        </div>
        <button type="button" aria-label={texts.close} onClick={() => chat.close()}>
          <CloseIcon />
        </button>
      </div>
      {phase === "failed" ? (
        <div class="banner bad" role="alert">
          {texts.unavailable}
          <button type="button" class="link" onClick={() => chat.reconnect()}>
            {texts.retry}
          </button>
        </div>
      ) : (
        isInterrupted && (
          <div class="banner" role="status">
            {texts.offline}
          </div>
        )
      )}
      <ThreadView chat={chat} state={state} texts={texts} />
      <Composer chat={chat} drafts={drafts} mayWrite={mayWrite} texts={texts} />
    </div>
  );
}

const focusable = "button:not(:disabled), a[href], textarea, [tabindex]";

/** Escape closes the panel. Tab stays in it. */
function onKeyDown(event: KeyboardEvent, chat: Chat): void {
  // The page must not take the letters for its shortcuts.
  event.stopPropagation();
  if (isComposing(event)) return;
  if (event.key === "Escape") {
    event.preventDefault();
    chat.close();
    return;
  }
  if (event.key !== "Tab" || !(event.currentTarget instanceof HTMLElement)) return;
  const panel = event.currentTarget;
  const all = [...panel.querySelectorAll<HTMLElement>(focusable)];
  const [first, last] = [all[0], all.at(-1)];
  const root = panel.getRootNode();
  const active = root instanceof ShadowRoot ? root.activeElement : null;
  const target = event.shiftKey ? last : first;
  if (active !== (event.shiftKey ? first : last) || target === undefined) return;
  event.preventDefault();
  target.focus();
}
