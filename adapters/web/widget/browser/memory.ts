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
  readonly #visitor: string;
  readonly #storage: () => Storage;

  /**
   * Removes the values of another visitor. A page of that visitor that is still open remembers
   * nothing from then on. `storage` is a function, since a browser may refuse even to name it.
   */
  constructor({ sessionUrl, visitor }: ChatOptions, storage: () => Storage) {
    this.#prefix = `tidings-chat:${sessionUrl}:`;
    this.#visitor = visitor;
    this.#storage = storage;
    if (this.#isOwn) return;
    for (const name of this.#names("")) this.#write(name, undefined);
    this.#write("visitor", visitor);
  }

  /** Whether the values are those of the visitor whom this page names. */
  get #isOwn(): boolean {
    return (this.#read<string>("visitor") ?? "") === this.#visitor;
  }

  recall<T>(name: string): T | undefined {
    return this.#isOwn ? this.#read<T>(name) : undefined;
  }

  #read<T>(name: string): T | undefined {
    const text = attempt(() => this.#storage().getItem(this.#prefix + name)) ?? null;
    return text === null ? undefined : attempt(() => JSON.parse(text) as T);
  }

  /** Stores a value. Undefined removes it. */
  remember(name: string, value: unknown): void {
    if (this.#isOwn) this.#write(name, value);
  }

  #write(name: string, value: unknown): void {
    attempt(() => {
      if (value === undefined) this.#storage().removeItem(this.#prefix + name);
      else this.#storage().setItem(this.#prefix + name, JSON.stringify(value));
    });
  }

  /** Whether a key of the storage is that of a value. */
  has(key: string | null): boolean {
    return key?.startsWith(this.#prefix) === true;
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
