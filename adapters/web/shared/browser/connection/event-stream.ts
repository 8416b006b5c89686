/**
 * The live events of a page. All tabs of one page share one stream: the tab that holds a lock reads
 * it and passes the events on. When that tab closes, the next one gets the lock and resumes.
 */
import { signal } from "@preact/signals";
import type { Event, EventType, Typing } from "../../../../../src/index.ts";
import { keepLatest } from "../keep-latest.ts";
import { addressOf, errorOf, personHeaders } from "./http.ts";
import { withLock } from "./locks.ts";
import { ApiError } from "./problem.ts";
import { noteUnreached, onReconnect } from "./reachability.ts";
import { readEvents } from "./read-events.ts";
import { currentSession, sessionState } from "./session.ts";

/** What a page does with the live events. */
export interface StreamListener {
  /** The types of events. All tabs of a page name the same. Default: all types. */
  readonly types?: readonly EventType[];
  /** Distinguishes the pages and sessions whose tabs must not share a stream. */
  readonly channel: string;
  /** Called with each event once, in order. */
  readonly onEvent: (event: Event) => void;
  /** Called when somebody is typing on webchat. All tabs of a page have it, or none. */
  readonly onTyping?: (typing: Typing) => void;
  /** Called when events may have been missed: the page reads again what it shows. */
  readonly onGap: () => void;
}

/** `live`: events arrive as they happen. */
export type StreamState = "connecting" | "live" | "interrupted";

export const streamState = signal<StreamState>("connecting");

/** What the tabs of a page tell each other. `hello` asks for the state. */
type TabMessage =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "typing"; readonly typing: Typing }
  | { readonly kind: "state"; readonly state: StreamState }
  | { readonly kind: "gap" }
  | { readonly kind: "hello" };

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** How many ids of events are kept to recognize repetitions. */
const maxSeen = 1000;

/** Begins to listen. Returns a function that ends it. */
export function listen(listener: StreamListener): () => void {
  const stop = new AbortController();
  const shared = new SharedStream(listener, stop.signal);
  shared.start();
  return () => stop.abort();
}

class SharedStream {
  private readonly channel: BroadcastChannel | undefined;
  private readonly seen = new Set<string>();
  /**
   * The event that the stream resumes after. The first one came with the session. The page reads
   * all that it shows after the session, so it misses nothing.
   */
  private lastId = currentSession.peek()?.last_event_id ?? undefined;
  /** Whether this tab reads the stream for the others. */
  private leads = false;
  /** Ends the present pause. */
  private wake: () => void = () => {};

  private readonly listener: StreamListener;
  private readonly stopped: AbortSignal;

  constructor(listener: StreamListener, stopped: AbortSignal) {
    this.listener = listener;
    this.stopped = stopped;
    if (typeof BroadcastChannel !== "undefined") {
      this.channel = new BroadcastChannel(`tidings:${listener.channel}`);
    }
  }

  start(): void {
    const { channel, stopped } = this;
    channel?.addEventListener("message", ({ data }) => this.receive(data as TabMessage));
    stopped.addEventListener("abort", () => channel?.close());
    const wake = (): void => {
      if (document.visibilityState === "visible") this.wake();
    };
    document.addEventListener("visibilitychange", wake, { signal: stopped });
    window.addEventListener("online", wake, { signal: stopped });
    // When only the server is back, the pauses still apply: a proxy may refuse streams alone.
    const endObserving = onReconnect((reason) => {
      if (reason === "session") this.wake();
    });
    stopped.addEventListener("abort", () => {
      endObserving();
      this.wake();
    });
    if (channel === undefined) {
      void this.lead();
      return;
    }
    channel.postMessage({ kind: "hello" } satisfies TabMessage);
    withLock(`tidings:${this.listener.channel}`, () => this.lead(), stopped).catch(() => {
      // The page stopped listening before it got the lock.
    });
  }

  /** Handles what another tab tells. */
  private receive(message: TabMessage): void {
    if (message.kind === "event") this.notifyOnce(message.event);
    else if (message.kind === "typing") this.listener.onTyping?.(message.typing);
    else if (message.kind === "state") streamState.value = message.state;
    else if (message.kind === "gap") this.listener.onGap();
    else if (this.leads) this.tellTabs({ kind: "state", state: streamState.value });
  }

  private tellTabs(message: TabMessage): void {
    if (!this.stopped.aborted) this.channel?.postMessage(message);
  }

  private setState(state: StreamState): void {
    streamState.value = state;
    this.tellTabs({ kind: "state", state });
  }

  /** Reads the stream for all tabs. Opens it again when it ends. */
  private async lead(): Promise<void> {
    this.leads = true;
    for (let failures = 0; !this.stopped.aborted; failures += 1) {
      let waitMs = Math.min(maxDelayMs, firstDelayMs * 2 ** failures) * (0.75 + Math.random() / 2);
      try {
        await this.read(() => (failures = -1));
      } catch (error) {
        if (this.stopped.aborted) return;
        if (!(error instanceof ApiError)) noteUnreached();
        else if (this.lastId !== undefined && (error.status === 422 || error.status === 400)) {
          // The event is no longer kept. The stream begins now, and the page reads again.
          this.lastId = undefined;
          continue;
        } else waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
      }
      this.setState("interrupted");
      await this.pause(waitMs);
    }
  }

  /** Waits, but no longer than until the tab is shown, or the network or the session is back. */
  private async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = () => {};
  }

  /** Reads the stream until it ends. */
  private read(onOpen: () => void): Promise<void> {
    return readEvents(
      async (signal) => {
        const response = await this.open(signal);
        onOpen();
        return response;
      },
      ({ type, data }) => {
        if (type === "typing") this.readTyping(data);
        else this.readEvent(data);
      },
      this.stopped,
    );
  }

  private async open(signal: AbortSignal): Promise<Response> {
    const headers = new Headers({ ...personHeaders(), Accept: "text/event-stream" });
    const resumes = this.lastId !== undefined;
    if (this.lastId !== undefined) headers.set("Last-Event-ID", this.lastId);
    const before = sessionState.peek();
    const address = addressOf("v1/events/stream", {
      types: this.listener.types?.join(","),
      typing: this.listener.onTyping && true,
    });
    const response = await fetch(address, { headers, credentials: "same-origin", signal });
    if (!response.ok) throw await errorOf(response, before);
    this.setState("live");
    // Without an event to resume after, nobody knows which events were missed.
    if (!resumes) {
      this.listener.onGap();
      this.tellTabs({ kind: "gap" });
    }
    return response;
  }

  private readEvent(data: string): void {
    const event = JSON.parse(data) as Event;
    this.notifyOnce(event);
    this.tellTabs({ kind: "event", event });
  }

  private readTyping(data: string): void {
    const typing = JSON.parse(data) as Typing;
    this.listener.onTyping?.(typing);
    this.tellTabs({ kind: "typing", typing });
  }

  /** Hands an event to the page, once, although several tabs may pass it on. */
  private notifyOnce(event: Event): void {
    this.lastId = event.id;
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    keepLatest(this.seen, maxSeen);
    this.listener.onEvent(event);
  }
}
