/** Shows who is typing to the visitor, and reports that the visitor is typing. */
import type { WebchatTyping } from "../../../../../src/index.ts";
import type { VisitorApi } from "../connection/visitor-api.ts";

/** How long somebody counts as typing, in milliseconds. */
const shownMs = 6_000;
/** How often the visitor's typing is reported, in milliseconds. */
const reportEveryMs = 3_000;

export class Typing {
  readonly #api: VisitorApi;
  readonly #draw: () => void;
  #now: WebchatTyping | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;
  #reportedAt = -Infinity;

  constructor(api: VisitorApi, draw: () => void) {
    this.#api = api;
    this.#draw = draw;
  }

  /** Who is typing to the visitor. */
  get now(): WebchatTyping | undefined {
    return this.#now;
  }

  /** Shows who is typing, for a while. Undefined: a message has arrived. */
  show(typing: WebchatTyping | undefined): void {
    clearTimeout(this.#end);
    this.#now = typing;
    if (typing !== undefined) this.#end = setTimeout(() => this.show(undefined), shownMs);
    this.#draw();
  }

  /** Reports that the visitor is typing. */
  report(): void {
    const { known } = this.#api;
    const now = performance.now();
    // Without a session there is no conversation yet.
    if (known === undefined || now - this.#reportedAt < reportEveryMs) return;
    this.#reportedAt = now;
    // If it gets lost, the next one is soon enough.
    this.#api.request(known, "typing", { method: "POST" }).catch(() => {});
  }

  /** The visitor has sent the text. The next one is reported at once. */
  sent(): void {
    this.#reportedAt = -Infinity;
  }
}
