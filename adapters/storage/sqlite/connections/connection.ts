import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * A prepared query whose rows are arrays of columns. The types of `node:sqlite` have only objects.
 */
export interface ArrayQuery extends Pick<StatementSync, "run"> {
  /** Returns the first row, or undefined. */
  get(...values: (string | number | null)[]): unknown;
  /** Returns all rows. */
  all(...values: (string | number | null)[]): unknown[];
}

/** A database handle and its prepared statements. Each statement is prepared once. */
export class Connection {
  readonly handle: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #queries = new Map<string, ArrayQuery>();

  constructor(handle: DatabaseSync) {
    this.handle = handle;
  }

  /** Returns a prepared statement that returns no rows. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns a prepared statement that returns each row as an array of its columns. */
  query(sql: string): ArrayQuery {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      query = arrayQuery(this.handle, sql);
      this.#queries.set(sql, query);
    }
    return query;
  }
}

/** Its rows have numbers and text, whatever defaults the host application set. */
function arrayQuery(handle: DatabaseSync, sql: string): ArrayQuery {
  const query = handle.prepare(sql);
  query.setReturnArrays(true);
  query.setReadBigInts(false);
  return query;
}
