/** The chat: its messages, what is still to be sent, and its connection. */
import type {
  WebchatMessage,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "../../../../../src/index.ts";
import { BrowserTabs, type ChatNews } from "../connection/browser-tabs.ts";
import { Retries } from "../connection/retries.ts";
import type { Arrival } from "../connection/stream.ts";
import { VisitorApi } from "../connection/visitor-api.ts";
import type { ChatOptions } from "../options.ts";
import { History } from "./history.ts";
import { Listeners } from "./listeners.ts";
import { Outbox, type Pending } from "./outbox.ts";
import { Receipts } from "./receipts.ts";
import { Sender } from "./sender.ts";
import { ThreadUpdates } from "./thread-updates.ts";
import { Thread } from "./thread.ts";
import { Typing } from "./typing.ts";

/** What the view shows. */
export interface ChatState {
  readonly isOpen: boolean;
  /** `new`: this visitor has not written yet. `failed`: no session can be opened. */
  readonly phase: ThreadUpdates["phase"];
  readonly isInterrupted: boolean;
  /** In order of time. */
  readonly messages: readonly WebchatMessage[];
  readonly pending: readonly Pending[];
  readonly mayWrite: boolean;
  readonly hasOlder: boolean;
  readonly unread: number;
  /** The message that arrived last, for screen readers. */
  readonly latest: WebchatMessage | undefined;
  /** Who has the conversation, and which messages were read. */
  readonly conversation: WebchatState;
  /** Who is typing to the visitor. */
  readonly typing: WebchatTyping | undefined;
}

export class Chat {
  readonly listeners = new Listeners();
  readonly #options: ChatOptions;
  readonly #api: VisitorApi;
  readonly #thread = new Thread();
  readonly #history: History;
  readonly #updates: ThreadUpdates;
  readonly #retries = new Retries();
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #receipts: Receipts;
  readonly #tabs: BrowserTabs;
  readonly #typing: Typing;
  readonly #draw: () => void;
  #isOpen = false;
  #unread = 0;
  /** The id of the message that arrived last. */
  #latest: string | undefined;

  /** `draw` is called after each change. */
  constructor(options: ChatOptions, draw: () => void) {
    this.#options = options;
    this.#draw = draw;
    this.#api = new VisitorApi(options);
    this.#history = new History(this.#api, this.#thread);
    this.#outbox = new Outbox(this.#api.memory);
    this.#receipts = new Receipts(this.#api, this.#retries);
    this.#typing = new Typing(this.#api, draw);
    this.#tabs = new BrowserTabs(`tidings-chat:${options.sessionUrl}:${options.visitor}`);
    this.#sender = new Sender({
      api: this.#api,
      outbox: this.#outbox,
      retries: this.#retries,
      tabs: this.#tabs,
      onChange: draw,
      onSent: (client_id, message) => {
        this.#tabs.tell({ kind: "sent", client_id, message });
        this.#sent(client_id, message);
      },
    });
    this.#updates = new ThreadUpdates({
      api: this.#api,
      thread: this.#thread,
      history: this.#history,
      tabs: this.#tabs,
      retries: this.#retries,
      onLoaded: (isOther) => {
        if (isOther) this.#receipts.forget();
        this.#readShown();
        draw();
      },
      onNews: (news) => this.#show(news),
      onChange: draw,
    });
  }

  get state(): ChatState {
    return {
      isOpen: this.#isOpen,
      phase: this.#updates.phase,
      isInterrupted: this.#updates.isInterrupted,
      messages: this.#thread.messages,
      pending: this.#outbox.items,
      mayWrite: !this.#outbox.isFull,
      hasOlder: this.#thread.older !== null,
      unread: this.#unread,
      latest: this.#thread.messages.find(({ id }) => id === this.#latest),
      conversation: this.#thread.state,
      typing: this.#typing.now,
    };
  }

  /** Begins to follow the page. */
  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      this.#resume();
      this.#retries.wake();
      this.#tabs.tell({ kind: "hello" });
      this.#readShown();
    });
    window.addEventListener("online", () => this.#retries.wake());
    window.addEventListener("storage", ({ key }) => {
      const name = this.#api.memory.nameOf(key);
      if (name === undefined) return;
      // The tab in which the visitor wrote may be closed before it can send.
      if (this.#outbox.update(name)) this.#resume();
      // Another tab has stored what the visitor has seen. Its own message may come before or after.
      this.#readShown();
      this.#draw();
    });
    // A browser keeps no page with an open connection in its back/forward cache.
    window.addEventListener("pagehide", () => this.#updates.disconnect());
    window.addEventListener("pageshow", ({ persisted }) => persisted && this.#resume());
    this.#resume();
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.listeners.tell("open", undefined);
    this.#resume();
    this.#readShown();
    this.#draw();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.listeners.tell("close", undefined);
    this.#draw();
  }

  send(body: string): void {
    this.#typing.sent();
    this.#outbox.add(body);
    this.#sendAll();
  }

  /** The visitor is typing. */
  type(): void {
    this.#typing.report();
  }

  /** Sends a message again that the server refused or did not confirm. */
  retry(item: Pending): void {
    this.#outbox.change(item, { state: "sending", sentIn: undefined });
    this.#sendAll();
  }

  discard(item: Pending): void {
    this.#outbox.remove(item);
    this.#draw();
  }

  /** Tries again after `failed`. */
  reconnect(): void {
    this.#updates.disconnect();
    this.#connect();
  }

  async loadOlder(): Promise<void> {
    await this.#history.loadOlder();
    this.#draw();
  }

  #sendAll(): void {
    if (this.#updates.phase === "failed") this.#updates.disconnect();
    this.#connect();
    this.#draw();
  }

  /** Connects if there may be something to show: this visitor has written before, or is known. */
  #resume(): void {
    const mayHaveMessages = this.#api.known !== undefined || this.#options.visitor !== "";
    if (mayHaveMessages || this.#outbox.items.length > 0) this.#connect();
  }

  #connect(): void {
    void this.#sender.flush();
    this.#updates.connect();
  }

  #show(news: ChatNews): void {
    switch (news.kind) {
      case "arrival":
        this.#arrive(news);
        break;
      case "redaction":
        this.#redact(news);
        break;
      case "signal":
        this.#showSignal(news.signal);
        break;
      case "sent":
        this.#sent(news.client_id, news.message);
        break;
    }
    this.#draw();
  }

  #showSignal(signal: WebchatSignal): void {
    if (signal.type === "typing") this.#typing.show(signal.typing);
    else this.#thread.changeState(signal.state);
  }

  #arrive({ number, message }: Arrival): void {
    // The message ends its author's typing.
    this.#typing.show(undefined);
    const isNew = !this.#thread.has(message.id);
    this.#thread.number = Math.max(this.#thread.number, number);
    const { leads } = this.#updates;
    // The other tabs get it from this one, and share what is noted.
    if (isNew && leads) this.#receipts.noteArrival(message, this.#thread.messages);
    this.#thread.add([message]);
    if (isNew) {
      this.#latest = message.id;
      this.listeners.tell("message", message);
    }
    if (leads && !this.#isShown) this.#receipts.reportDelivered(message);
    this.#readShown();
  }

  #redact({ number, message }: Arrival): void {
    this.#thread.number = Math.max(this.#thread.number, number);
    this.#thread.redact(message);
  }

  #sent(client_id: string, message: WebchatMessage): void {
    this.#outbox.remove({ client_id });
    this.#thread.add([message]);
    this.#countUnread();
    this.#draw();
  }

  get #isShown(): boolean {
    return this.#isOpen && document.visibilityState === "visible";
  }

  /** What the visitor sees counts as read. */
  #readShown(): void {
    const unseen = this.#receipts.unseen(this.#thread.messages);
    if (this.#isShown && unseen.length > 0) this.#receipts.see(unseen, this.#thread.messages);
    this.#countUnread();
  }

  #countUnread(): void {
    const { length } = this.#receipts.unseen(this.#thread.messages);
    if (length === this.#unread) return;
    this.#unread = length;
    this.listeners.tell("unread", length);
  }
}
