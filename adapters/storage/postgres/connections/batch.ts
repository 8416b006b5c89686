/**
 * Runs several statements in one round trip. PostgreSQL's extended protocol lets a client send any
 * number of statements before it waits (manual, "Pipelining"). Outside of a transaction, the
 * statements before a Sync are one transaction: when one fails, the earlier ones are undone and the
 * later ones are skipped. `pg` cannot send such a batch itself, but it accepts query objects, as
 * pg-cursor does, that write the messages and receive the responses.
 */
import { unknownStatement } from "../errors.ts";
import { PreparedStatements, unnamed } from "./prepared-statements.ts";
import type { Result, Statement } from "./statement.ts";

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
  /** What this batch prepares, each with the number of its statement in the batch. */
  readonly #parsed: { readonly text: string; readonly at: number }[] = [];
  /** What this batch closes, in the same way. */
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
