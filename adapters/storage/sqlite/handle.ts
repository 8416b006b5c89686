/** What `node:sqlite` and better-sqlite3 have in common, as far as it is used here. */
export interface SqliteHandle {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

export interface SqliteStatement {
  run(...values: (string | number | null)[]): { readonly changes: number | bigint };
  get(...values: (string | number | null)[]): unknown;
  all(...values: (string | number | null)[]): unknown[];
  /** better-sqlite3's; throws for statements that answer no rows. */
  raw?(on: boolean): unknown;
  safeIntegers?(on: boolean): unknown;
  /** node:sqlite's. */
  setReturnArrays?(on: boolean): unknown;
  setReadBigInts?(on: boolean): unknown;
}

/** A connection and its statements, each prepared once. */
export class Connection {
  readonly handle: SqliteHandle;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #queries = new Map<string, SqliteStatement>();

  constructor(handle: SqliteHandle) {
    this.handle = handle;
  }

  /** A statement that answers no rows. */
  statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** A statement that answers each row as an array of its columns. */
  query(sql: string): SqliteStatement {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      query = this.handle.prepare(sql);
      asArrays(query);
      this.#queries.set(sql, query);
    }
    return query;
  }
}

/** Whatever the host set as its handle's defaults, rows come as arrays of numbers and text. */
function asArrays(query: SqliteStatement): void {
  if (query.setReturnArrays !== undefined) query.setReturnArrays(true);
  else query.raw?.(true);
  query.setReadBigInts?.(false);
  query.safeIntegers?.(false);
}
