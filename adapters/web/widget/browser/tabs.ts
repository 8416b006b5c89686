/** The tabs of one website share a stream: the tab that holds a lock reads it for all. */
import type { WebchatMessage, WebchatSignal } from "../../../../src/index.ts";
import type { Arrival } from "./stream.ts";

/** What a tab tells the others. */
export type Passed =
  | ({ readonly kind: "arrival" | "redaction" } & Arrival)
  | { readonly kind: "signal"; readonly signal: WebchatSignal }
  | { readonly kind: "sent"; readonly client_id: string; readonly message: WebchatMessage }
  /** The visitor has seen what was unread. */
  | { readonly kind: "seen" }
  /** A tab asks how far the stream has come. */
  | { readonly kind: "hello" }
  | { readonly kind: "state"; readonly number: number; readonly isInterrupted: boolean };

export class Tabs {
  readonly #name: string;
  #channel: BroadcastChannel | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** Listens to the other tabs until `signal` aborts. */
  listen(signal: AbortSignal, receive: (passed: Passed) => void): void {
    const channel = new BroadcastChannel(this.#name);
    this.#channel = channel;
    channel.addEventListener("message", ({ data }) => receive(data as Passed));
    signal.addEventListener("abort", () => channel.close());
  }

  /** Runs `lead` when this tab gets the lock, unless `signal` aborts before. */
  whenFirst(signal: AbortSignal, lead: () => Promise<void>): void {
    // Without locks, as on a plain http address, each tab reads for itself.
    if ("locks" in navigator) {
      navigator.locks.request(this.#name, { signal }, lead).catch(() => {
        // The page was left before it got the lock.
      });
    } else void lead();
  }

  tell(passed: Passed): void {
    try {
      this.#channel?.postMessage(passed);
    } catch {
      // The channel is closed: the page is being left.
    }
  }
}
