/** Keeps the thread up to date: loads it, then follows the stream, or the tab that reads it. */
import type { BrowserTabs, ChatNews, TabMessage } from "../connection/browser-tabs.ts";
import { mayRecover, type Retries } from "../connection/retries.ts";
import type { Session } from "../connection/session.ts";
import { readStream } from "../connection/stream.ts";
import type { VisitorApi } from "../connection/visitor-api.ts";
import type { History } from "./history.ts";
import { maxMessages, type Thread } from "./thread.ts";

/** What updates work with. */
export interface UpdatesContext {
  readonly api: VisitorApi;
  readonly thread: Thread;
  readonly history: History;
  readonly tabs: BrowserTabs;
  readonly retries: Retries;
  /** The newest messages are loaded. `isOther`: they belong to another contact than before. */
  readonly onLoaded: (isOther: boolean) => void;
  /** News came from the stream or from another tab. Messages are not in the thread yet. */
  readonly onNews: (news: ChatNews) => void;
  /** `phase` or `isInterrupted` may have changed. */
  readonly onChange: () => void;
}

export class ThreadUpdates {
  readonly #context: UpdatesContext;
  #stop: AbortController | undefined;
  #phase: "new" | "loading" | "ready" | "failed" = "new";
  #isInterrupted = false;
  #leads = false;
  /** How often messages were missed. */
  #gaps = 0;
  /** How many of the gaps a page that was requested later has filled. */
  #filled = 0;
  /** The connection in which gaps are being filled. */
  #filling: AbortSignal | undefined;

  constructor(context: UpdatesContext) {
    this.#context = context;
  }

  /** `new`: nothing was loaded yet. `failed`: no session can be opened. */
  get phase(): "new" | "loading" | "ready" | "failed" {
    return this.#phase;
  }

  /** Whether the connection is lost, and is tried again. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Whether this tab reads the stream for all. */
  get leads(): boolean {
    return this.#leads;
  }

  connect(): void {
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    if (this.#phase !== "ready") this.#phase = "loading";
    void this.#run(this.#stop.signal);
  }

  disconnect(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#leads = false;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { api, retries, tabs } = this.#context;
    const repeat = (work: () => Promise<boolean>): Promise<void> =>
      retries.repeat(work, (error) => this.#noteEnd(error), signal);
    // Before the messages are loaded, so that nothing is missed in between.
    tabs.listen(signal, (message) => this.#receive(message));
    await repeat(async () => {
      await api.inSession((session) => this.#load(session));
      return true;
    });
    if (signal.aborted || this.#phase === "failed") return;
    tabs.whenFirst(signal, () => repeat(() => this.#lead(signal)));
    tabs.tell({ kind: "hello" });
  }

  /** Notes that a stream ended or a request failed. Returns whether to try again. */
  #noteEnd(error: unknown): boolean {
    // Without an error, the server ended the stream.
    const goesOn = error === undefined || mayRecover(error);
    if (goesOn) this.#setInterrupted(true);
    else {
      this.#phase = "failed";
      reportError(error);
    }
    this.#context.onChange();
    return goesOn;
  }

  #setInterrupted(isInterrupted: boolean): void {
    this.#isInterrupted = isInterrupted;
    if (this.#leads) this.#tellState();
    this.#context.onChange();
  }

  /** Tells the other tabs how far this one has read. */
  #tellState(): void {
    const { tabs, thread } = this.#context;
    tabs.tell({ kind: "state", number: thread.number, isInterrupted: this.#isInterrupted });
  }

  async #load(session: Session): Promise<void> {
    const isOther = await this.#context.history.loadNewest(session);
    this.#phase = "ready";
    this.#setInterrupted(false);
    this.#context.onLoaded(isOther);
  }

  /** Loads what was missed. Repeats this until it succeeds: there may be no further message. */
  async #catchUp(): Promise<void> {
    const { api, retries } = this.#context;
    const signal = this.#stop?.signal;
    if (this.#filling === signal) return;
    this.#filling = signal;
    const fill = async (): Promise<boolean> => {
      while (this.#filled < this.#gaps) {
        const gaps = this.#gaps;
        await api.inSession((session) => this.#load(session));
        this.#filled = gaps;
      }
      return true;
    };
    await retries.repeat(fill, (error) => this.#noteEnd(error), signal);
    if (this.#filling === signal) this.#filling = undefined;
  }

  /** Reads the stream for all tabs, until it ends. Resolves with false, so that it is repeated. */
  async #lead(signal: AbortSignal): Promise<boolean> {
    const { api, history, thread } = this.#context;
    this.#leads = true;
    await api.inSession(async (session) => {
      if (session.contact_id !== history.contact) await this.#load(session);
      await readStream(api, session, {
        after: thread.number,
        signal,
        onOpen: () => this.#setInterrupted(false),
        onArrival: (arrival) => this.#passOn({ kind: "arrival", ...arrival }),
        onRedaction: (redaction) => this.#passOn({ kind: "redaction", ...redaction }),
        onSignal: (given) => this.#passOn({ kind: "signal", signal: given }),
      });
    });
    return false;
  }

  /** Tells the other tabs and this one what came from the stream. */
  #passOn(news: ChatNews): void {
    this.#context.tabs.tell(news);
    this.#show(news);
  }

  /** Handles what another tab tells. */
  #receive(message: TabMessage): void {
    const { thread, onChange } = this.#context;
    if (message.kind === "hello") {
      if (this.#leads) this.#tellState();
    } else if (message.kind === "state") {
      this.#isInterrupted = message.isInterrupted;
      if (message.number > thread.number) {
        this.#gaps++;
        void this.#catchUp();
      }
      onChange();
    } else {
      // Numbers have no gaps but for erased and redacted messages.
      if ("number" in message && message.number > thread.number + 1) this.#gaps++;
      this.#show(message);
    }
  }

  #show(news: ChatNews): void {
    const { thread, onNews } = this.#context;
    onNews(news);
    if (!("number" in news)) return;
    if (thread.messages.length > maxMessages) this.#gaps++;
    if (this.#filled < this.#gaps) void this.#catchUp();
  }
}
