/**
 * Statements that go to the server together and come back together. PostgreSQL's extended protocol lets a client send any number of
 * them before it waits (manual, "Pipelining"); up to the one Sync at the end they are one transaction, unless one is open already: the
 * first that fails undoes those before it, and those behind it are skipped. `pg` has no such query of its own but lets one be
 * made (as pg-cursor and pg-query-stream are): an object that writes its messages and takes the answers.
 */
import { unprepared } from "../errors.ts";
import { Prepared } from "./prepared.ts";

export interface Statement {
  readonly text: string;
  /** Each in PostgreSQL's text format. */
  readonly values: readonly (string | null)[];
}

export interface Result {
  readonly rows: readonly (readonly unknown[])[];
  /** The command's tag: `COMMIT`, `UPDATE 3`. */
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

/** The methods are those that `pg` calls; that of a query that is read whole and never copied are empty. */
export class Batch {
  /** Also read and replaced by `pg`, which ends its own timeout (`query_timeout`) with it. */
  callback: Done;
  readonly #statements: readonly Statement[];
  readonly #results: Result[] = [];
  #rows: unknown[][] = [];
  readonly #parsed: { readonly text: string; readonly at: number }[] = [];
  #prepared: Prepared | undefined;

  constructor(statements: readonly Statement[], done: Done) {
    this.#statements = statements;
    this.callback = done;
  }

  submit(wire: Wire): void {
    const prepared = (this.#prepared = Prepared.on(wire));
    wire.stream.cork?.();
    try {
      for (const [at, { text, values }] of this.#statements.entries()) {
        const { name, close, parse } = prepared.use(text);
        for (const old of close) wire.close({ type: "S", name: old });
        if (parse) {
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

  handleError(error: Error): void {
    const answered = this.#results.length;
    this.#prepared?.doubt(this.#parsed.filter(({ at }) => at >= answered).map(({ text }) => text));
    if ("code" in error && error.code === unprepared) this.#prepared?.doubtAll();
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
