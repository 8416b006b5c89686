import { randomUUID } from "node:crypto";
import { getOrInsert } from "../../../../src/kernel/index.ts";

/**
 * The maximum number of statements that one connection keeps prepared. Beyond it, the least
 * recently used one is closed.
 */
const maxPrepared = 400;

/**
 * The prefix of statement names. It is unique for this copy of the module, because another copy may
 * use the same connection.
 */
const namePrefix = `tidings_${randomUUID().slice(0, 8)}_`;
let nameCount = 0;

/** What to send for a statement. */
export interface StatementUse {
  readonly name: string;
  /** The names of statements to close first. Closing an unknown name is not an error. */
  readonly namesToClose: readonly string[];
  /** Whether the statement has to be prepared. */
  readonly needsParse: boolean;
}

/** The statement without a name. Each use of it replaces the one before. */
export const unnamed: StatementUse = { name: "", namesToClose: [], needsParse: true };

/** The statements that one connection has prepared. */
export class PreparedStatements {
  static readonly #byConnection = new WeakMap<object, PreparedStatements>();
  /** The name of each statement, by its text. */
  readonly #names = new Map<string, string>();
  /** Statements in a batch that failed. It is unknown whether they were prepared. */
  readonly #uncertain = new Set<string>();
  /** The names of statements to close with the next one that is prepared. */
  readonly #namesToClose: string[] = [];

  static of(connection: object): PreparedStatements {
    return getOrInsert(
      PreparedStatements.#byConnection,
      connection,
      () => new PreparedStatements(),
    );
  }

  use(text: string): StatementUse {
    const name = this.#names.get(text);
    if (name === undefined) {
      const fresh = `${namePrefix}${++nameCount}`;
      this.#names.set(text, fresh);
      this.#evict();
      return { name: fresh, namesToClose: this.#namesToClose.splice(0), needsParse: true };
    }
    // The map is in the order of use, and the least recently used text comes first.
    this.#names.delete(text);
    this.#names.set(text, name);
    const needsParse = this.#uncertain.delete(text);
    if (needsParse) this.#namesToClose.push(name);
    return { name, namesToClose: needsParse ? this.#namesToClose.splice(0) : [], needsParse };
  }

  markUncertain(texts: Iterable<string>): void {
    for (const text of texts) if (this.#names.has(text)) this.#uncertain.add(text);
  }

  /** Closes statements whose names are no longer used, because the server may still have them. */
  closeLater(names: readonly string[]): void {
    const used = new Set(this.#names.values());
    this.#namesToClose.push(...names.filter((name) => !used.has(name)));
  }

  /**
   * Prepares every statement anew at its next use. The host application may have run DEALLOCATE ALL
   * or DISCARD ALL.
   */
  markAllUncertain(): void {
    this.markUncertain(this.#names.keys());
  }

  #evict(): void {
    const [oldest] = this.#names;
    if (this.#names.size <= maxPrepared || oldest === undefined) return;
    const [text, name] = oldest;
    this.#names.delete(text);
    this.#uncertain.delete(text);
    this.#namesToClose.push(name);
  }
}
