import { randomUUID } from "node:crypto";

/** Statements that one connection keeps prepared; beyond it the one that was not used for longest gives way. */
const mostPrepared = 400;

/** Two copies of this module on one connection must not meet in a name. */
const prefix = `tidings_${randomUUID().slice(0, 8)}_`;
let named = 0;

export interface Use {
  readonly name: string;
  /** Names to be closed before: closing one that the server doesn't have is no error. */
  readonly close: readonly string[];
  readonly parse: boolean;
}

/** What one connection has prepared. */
export class Prepared {
  static readonly #of = new WeakMap<object, Prepared>();
  readonly #names = new Map<string, string>();
  /** Sent to be prepared in a batch that failed: nobody can tell whether they were. */
  readonly #doubtful = new Set<string>();

  static on(connection: object): Prepared {
    let prepared = Prepared.#of.get(connection);
    if (prepared === undefined) Prepared.#of.set(connection, (prepared = new Prepared()));
    return prepared;
  }

  use(text: string): Use {
    const name = this.#names.get(text);
    if (name === undefined) {
      const fresh = `${prefix}${++named}`;
      this.#names.set(text, fresh);
      return { name: fresh, close: this.#surplus(), parse: true };
    }
    this.#names.delete(text);
    this.#names.set(text, name);
    return this.#doubtful.delete(text)
      ? { name, close: [name], parse: true }
      : { name, close: [], parse: false };
  }

  doubt(texts: Iterable<string>): void {
    for (const text of texts) if (this.#names.has(text)) this.#doubtful.add(text);
  }

  /** The host may have said DEALLOCATE ALL or DISCARD ALL. */
  doubtAll(): void {
    this.doubt(this.#names.keys());
  }

  #surplus(): string[] {
    if (this.#names.size <= mostPrepared) return [];
    const [oldest] = this.#names;
    if (oldest === undefined) return [];
    const [text, name] = oldest;
    this.#names.delete(text);
    this.#doubtful.delete(text);
    return [name];
  }
}
