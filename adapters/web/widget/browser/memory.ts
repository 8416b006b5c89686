/** What the chat remembers in this browser, also for the other tabs. */
import type { ChatOptions } from "./options.ts";

/** The values of one chat, by name. */
export class Memory {
  readonly #prefix: string;
  readonly #visitor: string;
  readonly #storage: () => Storage;
  /** What this page has read or set last. Nothing else is left once its values are not stored. */
  readonly #last = new Map<string, unknown>();
  #isRefused = false;

  /**
   * Removes the values of another visitor. A page of that visitor that is still open remembers its
   * values until it is left, as all pages do if the browser stores nothing. `storage` is a
   * function, since a browser may refuse even to name it.
   */
  constructor({ sessionUrl, visitor }: ChatOptions, storage: () => Storage) {
    this.#prefix = `tidings-chat:${sessionUrl}:`;
    this.#visitor = visitor;
    this.#storage = storage;
    if (this.#isOwn) return;
    for (const name of this.#names("")) this.#write(name, undefined);
    this.#write("visitor", visitor);
  }

  /** Whether values are stored, and are those of the visitor whom this page names. */
  get #isOwn(): boolean {
    const isNamed = (this.#read<string>("visitor") ?? "") === this.#visitor;
    return isNamed && !this.#isRefused;
  }

  recall<T>(name: string): T | undefined {
    if (this.#isOwn) this.#last.set(name, this.#read(name));
    return this.#last.get(name) as T | undefined;
  }

  #read<T>(name: string): T | undefined {
    const text = this.#attempt((storage) => storage.getItem(this.#prefix + name)) ?? null;
    try {
      return text === null ? undefined : (JSON.parse(text) as T);
    } catch {
      return undefined;
    }
  }

  /** Stores a value. Undefined removes it. */
  remember(name: string, value: unknown): void {
    this.#last.set(name, value);
    if (this.#isOwn) this.#write(name, value);
  }

  #write(name: string, value: unknown): void {
    this.#attempt((storage) => {
      if (value === undefined) storage.removeItem(this.#prefix + name);
      else storage.setItem(this.#prefix + name, JSON.stringify(value));
    });
  }

  /** Uses the storage, and notes if the browser refuses that. */
  #attempt<T>(work: (storage: Storage) => T): T | undefined {
    try {
      return work(this.#storage());
    } catch {
      this.#isRefused = true;
      return undefined;
    }
  }

  /** Returns the name of the value under a key. Undefined if the key is not the chat's. */
  nameOf(key: string | null): string | undefined {
    return key?.startsWith(this.#prefix) === true ? key.slice(this.#prefix.length) : undefined;
  }

  /** Returns the values whose name begins with `start`. */
  all<T>(start: string): readonly T[] {
    return this.#names(start)
      .map((name) => this.recall<T>(name))
      .filter((value) => value !== undefined);
  }

  #names(start: string): readonly string[] {
    const names = this.#attempt(Object.keys) ?? [];
    return names
      .filter((name) => name.startsWith(this.#prefix + start))
      .map((name) => name.slice(this.#prefix.length));
  }
}
