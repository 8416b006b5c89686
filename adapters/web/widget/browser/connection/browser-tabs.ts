/** The tabs of one website share a stream: the tab that holds a lock reads it for all. */
import type { WebchatMessage, WebchatSignal } from "../../../../../src/index.ts";
import { withLock } from "../../../shared/browser/connection/locks.ts";
import type { Arrival } from "./stream.ts";

/** What changes the chat in all tabs. */
export type ChatNews =
  | ({ readonly kind: "arrival" | "redaction" } & Arrival)
  | { readonly kind: "signal"; readonly signal: WebchatSignal }
  /** A tab has sent what the visitor wrote in it. */
  | { readonly kind: "sent"; readonly client_id: string; readonly message: WebchatMessage };

/** What a tab tells the others. */
export type TabMessage =
  | ChatNews
  /** A tab asks how far the stream has come. */
  | { readonly kind: "hello" }
  | { readonly kind: "state"; readonly number: number; readonly isInterrupted: boolean };

export class BrowserTabs {
  readonly #name: string;
  #channel: BroadcastChannel | undefined;

  /** Tabs with the same name share a stream. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Listens to the other tabs until `signal` aborts. */
  listen(signal: AbortSignal, onMessage: (message: TabMessage) => void): void {
    try {
      const channel = new BroadcastChannel(this.#name);
      this.#channel = channel;
      channel.addEventListener("message", ({ data }) => onMessage(data as TabMessage));
      signal.addEventListener("abort", () => channel.close());
    } catch {
      // Firefox refuses it to a page for which it stores nothing. This tab then reads for itself.
    }
  }

  /** Runs `lead` when this tab gets the lock, unless `signal` aborts before. */
  whenFirst(signal: AbortSignal, lead: () => Promise<void>): void {
    withLock(this.#name, lead, signal).catch(() => {
      // The page was left before it got the lock.
    });
  }

  /** Runs `work` while no other tab runs any. */
  inTurn(work: () => Promise<void>): Promise<void> {
    return withLock(`${this.#name}:turn`, work);
  }

  /** Tells all other tabs. */
  tell(message: TabMessage): void {
    try {
      this.#channel?.postMessage(message);
    } catch {
      // The channel is closed: the page is being left.
    }
  }
}
