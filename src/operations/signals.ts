import {
  boundedCache,
  type Author,
  type ContactId,
  type ConversationId,
  type Scope,
} from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";

/**
 * Somebody is typing in a webchat conversation. Streams pass it on while it lasts. It is never
 * stored.
 */
export interface TypingSignal {
  readonly conversation_id: ConversationId;
  readonly contact_id: ContactId;
  readonly author: Author;
  /** The name that the visitor sees. Null if the author has none. */
  readonly author_name: string | null;
}

/** The signals that a stream wants. */
export type SignalFilter =
  /** Those of a visitor's conversations, but not the visitor's own. */
  | { readonly contact_id: ContactId }
  /** Those of all conversations, or of one. */
  | { readonly conversation_id?: string | undefined };

/** New signals that match a filter. */
export interface SignalSubscription {
  /** Returns the signals that wait and still last, and removes them. */
  readonly take: () => readonly TypingSignal[];
  readonly leave: () => void;
}

/** Passes signals to the streams of all processes. */
export interface Signals {
  publish(scope: Scope, signal: TypingSignal): void;
}

/** Equal signals within this time have one effect, in milliseconds. */
const repeatMs = 1_000;
/** The signals that are remembered for that. */
const maxRecent = 10_000;

/** The signals of the last second, by their keys. */
export class RecentSignals {
  readonly #clock: Clock;
  readonly #addedAt = boundedCache<string, number>(maxRecent);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(key: string): boolean {
    const at = this.#addedAt.get(key);
    return at !== undefined && this.#clock.monotonic() - at < repeatMs;
  }

  add(key: string): void {
    this.#addedAt.set(key, this.#clock.monotonic());
  }
}
