/** A connection as `tidings/postgres` uses it: it runs one SQL statement at a time. */
export interface Handle {
  /** Runs one statement. */
  query(query: Statement): Promise<{
    /** The rows, each as an array in column order. */
    readonly rows: readonly (readonly unknown[])[];
  }>;
}

/** One SQL statement with its parameters. */
export interface Statement {
  /** SQL with the placeholders `$1`, `$2`, …. */
  readonly text: string;
  /** One value for each placeholder, in PostgreSQL's text format; `null` is SQL NULL. */
  readonly values: (string | null)[];
}

const handles = new WeakMap<object, Handle>();

/**
 * Returns the same handle for the same transaction each time. The engine runs the commands of one
 * transaction one after the other, and recognizes the transaction by its handle.
 */
export function handleOf(transaction: object, query: Handle["query"]): Handle {
  let handle = handles.get(transaction);
  if (handle === undefined) handles.set(transaction, (handle = { query }));
  return handle;
}

/** The SQLSTATE for a statement that needs an open transaction. */
export const noTransaction = "25P01";

/** Returns an error with an SQLSTATE as its `code`, as the driver of PostgreSQL throws it. */
export function driverError(message: string, code: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

/**
 * Returns a row's values in column order. A query builder may return the row as an object. In the
 * results that the engine reads, no two columns have the same name.
 */
export function valuesOf(row: unknown): readonly unknown[] {
  return Array.isArray(row) ? row : Object.values(row as object);
}
