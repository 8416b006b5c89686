/** The chat: its messages, what is still to be sent, and its connection. */
import type {
  WebchatMessage,
  WebchatMessagePage,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "../../../../src/index.ts";
import { Listeners } from "./listeners.ts";
import type { ChatOptions } from "./options.ts";
import { Outbox, type Pending } from "./outbox.ts";
import { mayRecover, Patience } from "./patience.ts";
import { Receipts } from "./receipts.ts";
import { Sender } from "./sender.ts";
import { type Arrival, readStream } from "./stream.ts";
import { type Passed, Tabs } from "./tabs.ts";
import { maxMessages, Thread } from "./thread.ts";
import { Typing } from "./typing.ts";
import { type Session, VisitorApi } from "./visitor-api.ts";

/** What the view shows. */
export interface ChatState {
  readonly isOpen: boolean;
  /** `new`: this visitor has not written yet. `failed`: there is no session to be had. */
  readonly phase: "new" | "loading" | "ready" | "failed";
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

const pageSize = 30;

export class Chat {
  readonly listeners = new Listeners();
  readonly #options: ChatOptions;
  readonly #api: VisitorApi;
  readonly #thread = new Thread();
  readonly #patience = new Patience();
  readonly #outbox: Outbox;
  readonly #sender: Sender;
  readonly #receipts: Receipts;
  readonly #tabs: Tabs;
  readonly #typing: Typing;
  readonly #draw: () => void;
  #stop: AbortController | undefined;
  #phase: ChatState["phase"] = "new";
  #isOpen = false;
  #isInterrupted = false;
  /** Whether this tab reads the stream for all. */
  #leads = false;
  /** Whether messages were missed that are not loaded yet. */
  #isBehind = false;
  #unread = 0;
  /** The id of the message that arrived last. */
  #latest: string | undefined;
  /** Whose messages are shown. */
  #contact: string | undefined;
  /** How many states the stream has sent. */
  #states = 0;

  /** `draw` is called after each change. */
  constructor(options: ChatOptions, draw: () => void) {
    this.#options = options;
    this.#draw = draw;
    this.#api = new VisitorApi(options);
    this.#outbox = new Outbox(this.#api.memory);
    this.#receipts = new Receipts(this.#api);
    this.#typing = new Typing(this.#api, draw);
    this.#tabs = new Tabs(`tidings-chat:${options.sessionUrl}:${options.visitor}`);
    this.#sender = new Sender(this.#api, this.#outbox, this.#patience, {
      change: draw,
      sent: (client_id, message) => {
        this.#tabs.tell({ kind: "sent", client_id, message });
        this.#sent(client_id, message);
      },
    });
  }

  get state(): ChatState {
    return {
      isOpen: this.#isOpen,
      phase: this.#phase,
      isInterrupted: this.#isInterrupted,
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
      this.#patience.wake();
      this.#tabs.tell({ kind: "hello" });
      this.#readShown();
    });
    window.addEventListener("online", () => this.#patience.wake());
    // A browser keeps no page with a connection for the way back to it.
    window.addEventListener("pagehide", () => this.#disconnect());
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
    this.#disconnect();
    this.#connect();
  }

  async loadOlder(): Promise<void> {
    const { older, cuts } = this.#thread;
    if (older === null) return;
    this.#thread.older = null;
    // After a failure the visitor can ask again.
    const page = await this.#api
      .inSession((session) => this.#page(session, older))
      .catch(() => ({ data: [], next_cursor: older }));
    this.#thread.addOlder(page, cuts);
    this.#draw();
  }

  #sendAll(): void {
    if (this.#phase === "failed") this.#disconnect();
    this.#connect();
    this.#draw();
    void this.#sender.flush();
  }

  /** Connects if there may be something to show: this visitor has written before, or is known. */
  #resume(): void {
    const mayHaveMessages = this.#api.known !== undefined || this.#options.visitor !== "";
    if (mayHaveMessages || this.#outbox.items.length > 0) this.#connect();
  }

  #connect(): void {
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    if (this.#phase !== "ready") this.#phase = "loading";
    void this.#run(this.#stop.signal);
  }

  #disconnect(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#leads = false;
  }

  /** Loads the messages, then follows the stream, or the tab that reads it. */
  async #run(signal: AbortSignal): Promise<void> {
    void this.#sender.flush();
    const patiently = (work: () => Promise<boolean>): Promise<void> =>
      this.#patience.repeat(work, (error) => this.#interrupted(error), signal);
    // Before the messages are loaded, so that nothing is missed in between.
    this.#tabs.listen(signal, (passed) => this.#receive(passed));
    await patiently(async () => {
      await this.#api.inSession((session) => this.#load(session));
      return true;
    });
    if (signal.aborted || this.#phase === "failed") return;
    this.#tabs.whenFirst(signal, () => patiently(() => this.#lead(signal)));
    this.#tabs.tell({ kind: "hello" });
  }

  /** Returns whether to go on. A stream that the server ended is opened again. */
  #interrupted(error: unknown): boolean {
    const mayGoOn = error === undefined || mayRecover(error);
    if (mayGoOn) this.#setInterrupted(true);
    else {
      this.#phase = "failed";
      reportError(error);
    }
    this.#draw();
    return mayGoOn;
  }

  #setInterrupted(isInterrupted: boolean): void {
    this.#isInterrupted = isInterrupted;
    if (this.#leads) this.#tellState();
    this.#draw();
  }

  #tellState(): void {
    const { number } = this.#thread;
    this.#tabs.tell({ kind: "state", number, isInterrupted: this.#isInterrupted });
  }

  async #load(session: Session): Promise<void> {
    const states = this.#states;
    const page = await this.#page(session);
    if (this.#contact !== undefined && this.#contact !== session.contact_id) {
      // The host application takes the visitor for another one, or has erased what it knew.
      this.#thread.clear();
      this.#receipts.forget();
    }
    this.#contact = session.contact_id;
    this.#thread.addNewest(page);
    // A state from the stream is newer than the one of the page.
    if (states === this.#states) this.#thread.state = page.state;
    this.#phase = "ready";
    this.#isInterrupted = false;
    this.#readShown();
    this.#draw();
  }

  async #page(session: Session, cursor?: string): Promise<WebchatMessagePage> {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor && { cursor }) });
    const response = await this.#api.request(session, `messages?${query.toString()}`);
    return (await response.json()) as WebchatMessagePage;
  }

  /** Loads what was missed. The next message tries again if this fails. */
  #catchUp(): void {
    this.#isBehind = false;
    this.#api
      .inSession((session) => this.#load(session))
      .catch(() => {
        this.#isBehind = true;
      });
  }

  /** Reads the stream for all tabs, until it ends. */
  async #lead(signal: AbortSignal): Promise<boolean> {
    this.#leads = true;
    await this.#api.inSession(async (session) => {
      if (session.contact_id !== this.#contact) await this.#load(session);
      await readStream(this.#api, session, {
        after: this.#thread.number,
        signal,
        onOpen: () => {
          this.#setInterrupted(false);
          void this.#receipts.report();
        },
        onArrival: (arrival) => {
          this.#tabs.tell({ kind: "arrival", ...arrival });
          this.#arrive(arrival);
        },
        onRedaction: (redaction) => {
          this.#tabs.tell({ kind: "redaction", ...redaction });
          this.#redact(redaction);
        },
        onSignal: (signal) => {
          this.#tabs.tell({ kind: "signal", signal });
          this.#showSignal(signal);
        },
      });
    });
    return false;
  }

  #receive(passed: Passed): void {
    switch (passed.kind) {
      case "arrival":
      case "redaction":
        // Numbers have no gaps but for erased and redacted messages.
        if (passed.number > this.#thread.number + 1) this.#isBehind = true;
        if (passed.kind === "arrival") this.#arrive(passed);
        else this.#redact(passed);
        break;
      case "signal":
        this.#showSignal(passed.signal);
        break;
      case "sent":
        this.#sent(passed.client_id, passed.message);
        break;
      case "seen":
        this.#countUnread();
        break;
      case "hello":
        if (this.#leads) this.#tellState();
        break;
      case "state":
        this.#isInterrupted = passed.isInterrupted;
        if (passed.number > this.#thread.number) this.#catchUp();
        break;
    }
    this.#draw();
  }

  #showSignal(signal: WebchatSignal): void {
    if (signal.type === "typing") this.#typing.show(signal.typing);
    else {
      this.#states++;
      this.#thread.state = signal.state;
    }
    this.#draw();
  }

  #arrive({ number, message }: Arrival): void {
    // The message ends its author's typing.
    this.#typing.show(undefined);
    const isNew = !this.#thread.has(message.id);
    this.#thread.number = Math.max(this.#thread.number, number);
    this.#thread.add([message]);
    if (isNew) {
      this.#latest = message.id;
      this.listeners.tell("message", message);
    }
    if (this.#leads && !this.#isShown) void this.#receipts.mark(message.id, "delivered");
    if (this.#isBehind || this.#thread.messages.length > maxMessages) this.#catchUp();
    this.#readShown();
    this.#draw();
  }

  #redact({ number, message }: Arrival): void {
    this.#thread.number = Math.max(this.#thread.number, number);
    this.#thread.redact(message);
    if (this.#isBehind) this.#catchUp();
    this.#draw();
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
    if (this.#isShown && unseen.length > 0) {
      this.#receipts.see(unseen);
      this.#tabs.tell({ kind: "seen" });
    }
    this.#countUnread();
  }

  #countUnread(): void {
    const { length } = this.#receipts.unseen(this.#thread.messages);
    if (length === this.#unread) return;
    this.#unread = length;
    this.listeners.tell("unread", length);
  }
}
