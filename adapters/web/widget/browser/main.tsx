/** Puts the chat on a page: `<script src="…/widget.js" data-session-url="/chat/session" async>`. */
import { render } from "preact";
import { Chat } from "./chat/chat.ts";
import type { ChatEvents } from "./chat/listeners.ts";
import { Memory } from "./memory.ts";
import { optionsOf, type ChatOptions } from "./options.ts";
import { noteTimeZone } from "./view/formats.ts";
import styles from "./view/styles/widget.css?inline";
import { Widget } from "./view/widget.tsx";

/** `window.tidings`: what a page can do with its chat. */
export interface PageChat {
  /** Opens the panel. */
  open(): void;
  /** Closes the panel. */
  close(): void;
  /**
   * Calls `listener` when the panel opens or closes, when a message arrives, and when the number of
   * unread messages changes. Returns a function that removes the listener.
   */
  on<T extends keyof ChatEvents>(type: T, listener: (event: ChatEvents[T]) => void): () => void;
}

declare global {
  interface Window {
    tidings?: PageChat;
  }
}

/** How often an open chat is drawn again, since a day may have ended or the time zone changed. */
const redrawMs = 30_000;

const script = document.currentScript ?? document.querySelector("script[data-session-url]");

// A page that includes the script twice has one chat.
if (window.tidings === undefined && script instanceof HTMLElement) {
  const options = optionsOf(script);
  let draw = (): void => {};
  const chat = new Chat(options, () => draw());
  window.tidings = {
    open: () => chat.open(),
    close: () => chat.close(),
    on: (type, listener) => chat.listeners.add(type, listener),
  };
  const show = (): void => {
    draw = widgetOf(chat, options);
    chat.start();
    draw();
    // No event reports a new day or a new time zone.
    setInterval(draw, redrawMs);
    document.addEventListener("visibilitychange", draw);
  };
  if (document.readyState !== "loading") show();
  else document.addEventListener("DOMContentLoaded", show);
}

/** Adds the widget to the page. Returns a function that shows the chat as it is now. */
function widgetOf(chat: Chat, options: ChatOptions): () => void {
  const { texts, theme } = options;
  const host = document.createElement("tidings-chat");
  // A page may allow no style elements and attributes. Sheets and properties from code are allowed.
  if (theme !== undefined) host.style.colorScheme = theme;
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  document.body.append(host);
  const drafts = new Memory(options, () => sessionStorage);
  const draw = (): void => {
    noteTimeZone();
    const focused = root.activeElement;
    render(<Widget chat={chat} state={chat.state} drafts={drafts} texts={texts} />, root);
    // A button that was pressed may be gone. Without this, Tab and Escape would leave the panel.
    if (focused?.isConnected === false) root.querySelector<HTMLElement>(".list")?.focus();
  };
  chat.listeners.add("close", () => {
    // The page has closed the panel while the visitor is elsewhere.
    if (root.activeElement === null) return;
    // The button, which the panel may have covered, is there after the next drawing.
    queueMicrotask(() => root.querySelector<HTMLElement>(".launcher")?.focus());
  });
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    // Several changes at once are drawn once.
    queueMicrotask(() => {
      isDue = false;
      draw();
    });
  };
}
