/**
 * Runs several statements in one round trip. PostgreSQL's extended protocol lets a client send any
 * number of statements before it waits (manual, "Pipelining"). Outside of a transaction, the
 * statements before a Sync are one transaction: when one fails, the earlier ones are undone and the
 * later ones are skipped. `pg` cannot send such a batch itself, but it accepts query objects, as
 * pg-cursor does, that write the messages and receive the responses.
 */
import { randomUUID } from "node:crypto";
import { unknownStatement } from "./errors.ts";

/** One SQL statement. */
export interface Statement {
  readonly text: string;
  /** One value for each placeholder, in PostgreSQL's text format. */
  readonly values: readonly (string | null)[];
  /**
   * False for a statement that is not kept prepared. It cannot fail because the host application
   * discarded the connection's prepared statements. Default: true.
   */
  readonly isKept?: boolean;
}

/** Returns a statement that runs too rarely to be kept prepared, or that cannot fail for it. */
export const unprepared = (text: string): Statement => ({ text, values: [], isKept: false });

/** The result of one statement. */
export interface Result {
  readonly rows: readonly (readonly unknown[])[];
  /** The command tag, such as `COMMIT` or `UPDATE 3`. */
  readonly tag: string;
}

/** The part of `pg`'s Connection that a query writes to. */
export interface Wire {
  readonly stream: { cork?(): void; uncork?(): void };
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  execute(message: object): void;
  close(message: { readonly type: "S"; readonly name: string }): void;
  sync(): void;
}

type Done = (error: Error | null, results?: readonly Result[]) => void;

/**
 * A custom query of `pg`, which calls the methods by these names. Methods for events that cannot
 * occur here are empty.
 */
export class Batch {
  /** `pg` wraps it, to clear the timer of its option `query_timeout`. */
  callback: Done;
  readonly #statements: readonly Statement[];
  readonly #results: Result[] = [];
  #rows: unknown[][] = [];
  readonly #parsed: { readonly text: string; readonly at: number }[] = [];
  readonly #closed: { readonly names: readonly string[]; readonly at: number }[] = [];
  #prepared: PreparedStatements | undefined;

  constructor(statements: readonly Statement[], done: Done) {
    this.#statements = statements;
    this.callback = done;
  }

  submit(wire: Wire): void {
    const prepared = (this.#prepared = PreparedStatements.of(wire));
    wire.stream.cork?.();
    try {
      for (const [at, { text, values, isKept = true }] of this.#statements.entries()) {
        const { name, namesToClose, needsParse } = isKept ? prepared.use(text) : unnamed;
        for (const old of namesToClose) wire.close({ type: "S", name: old });
        if (namesToClose.length > 0) this.#closed.push({ names: namesToClose, at });
        if (needsParse) {
          this.#parsed.push({ text, at });
          wire.parse({ name, text });
        }
        wire.bind({ statement: name, values });
        wire.execute({});
      }
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
  }

  handleDataRow({ fields }: { readonly fields: unknown[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#results.push({ rows: this.#rows, tag: text });
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: "" });
  }

  /** After an error, `pg` drops the query. So `handleReadyForQuery` does not call back again. */
  handleError(error: Error): void {
    // The server has skipped what follows the statement that failed.
    const completed = this.#results.length;
    this.#prepared?.markUncertain(
      this.#parsed.filter(({ at }) => at >= completed).map(({ text }) => text),
    );
    this.#prepared?.closeLater(
      this.#closed.filter(({ at }) => at >= completed).flatMap(({ names }) => names),
    );
    if ("code" in error && error.code === unknownStatement) this.#prepared?.markAllUncertain();
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }

  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

/**
 * The maximum number of statements that one connection keeps prepared. Beyond it, the least
 * recently used one is closed.
 */
const maxPrepared = 400;

/**
 * The prefix of statement names. It is unique for this copy of the module, because another copy may
 * use the same connection.
 */
const prefix = `tidings_${randomUUID().slice(0, 8)}_`;
let nameCount = 0;

/** What to send for a statement. */
interface StatementUse {
  readonly name: string;
  /** The names of statements to close first. Closing an unknown name is not an error. */
  readonly namesToClose: readonly string[];
  /** Whether the statement has to be prepared. */
  readonly needsParse: boolean;
}

/** The statement without a name. Each use of it replaces the one before. */
const unnamed: StatementUse = { name: "", namesToClose: [], needsParse: true };

/** The statements that one connection has prepared. */
class PreparedStatements {
  static readonly #byConnection = new WeakMap<object, PreparedStatements>();
  readonly #names = new Map<string, string>();
  /** Statements in a batch that failed. It is unknown whether they were prepared. */
  readonly #uncertain = new Set<string>();
  /** The names of statements to close with the next one that is prepared. */
  readonly #namesToClose: string[] = [];

  static of(connection: object): PreparedStatements {
    let prepared = PreparedStatements.#byConnection.get(connection);
    if (prepared === undefined) {
      PreparedStatements.#byConnection.set(connection, (prepared = new PreparedStatements()));
    }
    return prepared;
  }

  use(text: string): StatementUse {
    const name = this.#names.get(text);
    if (name === undefined) {
      const fresh = `${prefix}${++nameCount}`;
      this.#names.set(text, fresh);
      this.#evict();
      return { name: fresh, namesToClose: this.#namesToClose.splice(0), needsParse: true };
    }
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
