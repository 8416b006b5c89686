/** What the chat remembers in this browser, also for the other tabs. */
import type { ChatOptions } from "./options.ts";

/** Runs `work`. If the browser refuses to store anything, the chat works until the page is left. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The values of one chat, by name. */
export class Memory {
  readonly #prefix: string;
  readonly #storage: () => Storage;

  /**
   * Removes the values of another visitor. `storage` is a function, since a browser may refuse even
   * to name it.
   */
  constructor({ sessionUrl, visitor }: ChatOptions, storage: () => Storage) {
    this.#prefix = `tidings-chat:${sessionUrl}:`;
    this.#storage = storage;
    if ((this.recall<string>("visitor") ?? "") === visitor) return;
    for (const name of this.#names("")) this.remember(name, undefined);
    this.remember("visitor", visitor);
  }

  recall<T>(name: string): T | undefined {
    const text = attempt(() => this.#storage().getItem(this.#prefix + name)) ?? null;
    return text === null ? undefined : attempt(() => JSON.parse(text) as T);
  }

  /** Stores a value. Undefined removes it. */
  remember(name: string, value: unknown): void {
    attempt(() => {
      if (value === undefined) this.#storage().removeItem(this.#prefix + name);
      else this.#storage().setItem(this.#prefix + name, JSON.stringify(value));
    });
  }

  /** Returns the values whose name begins with `start`. */
  all<T>(start: string): readonly T[] {
    return this.#names(start)
      .map((name) => this.recall<T>(name))
      .filter((value) => value !== undefined);
  }

  #names(start: string): readonly string[] {
    const names = attempt(() => Object.keys(this.#storage())) ?? [];
    return names
      .filter((name) => name.startsWith(this.#prefix + start))
      .map((name) => name.slice(this.#prefix.length));
  }
}
