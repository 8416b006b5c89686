/** The events of the chat that the page can listen to. */
import type { WebchatMessage } from "../../../../../src/index.ts";

/** What a page can listen to. */
export interface ChatEvents {
  /** The panel opened. */
  readonly open: undefined;
  /** The panel closed. */
  readonly close: undefined;
  /** A message to the visitor arrived while the page was open. */
  readonly message: WebchatMessage;
  /** The number of unread messages changed. */
  readonly unread: number;
}

type Listener<T extends keyof ChatEvents> = (event: ChatEvents[T]) => void;

export class Listeners {
  readonly #sets: { readonly [T in keyof ChatEvents]: Set<Listener<T>> } = {
    open: new Set(),
    close: new Set(),
    message: new Set(),
    unread: new Set(),
  };

  /**
   * Adds a listener. Returns a function that removes it.
   * @throws TypeError when there is no such event
   */
  add<T extends keyof ChatEvents>(type: T, listener: Listener<T>): () => void {
    const set = this.#sets[type];
    if (!Object.hasOwn(this.#sets, type)) {
      const names = Object.keys(this.#sets).join(", ");
      throw new TypeError(`tidings: There is no event "${type}". The events are ${names}.`);
    }
    set.add(listener);
    return () => set.delete(listener);
  }

  tell<T extends keyof ChatEvents>(type: T, event: ChatEvents[T]): void {
    for (const listener of this.#sets[type]) {
      try {
        listener(event);
      } catch (error) {
        // The chat goes on if the page has an error.
        reportError(error);
      }
    }
  }
}
