/** What `tidings/postgres` asks of a client: one statement, its values in PostgreSQL's text format. */
export interface Handle {
  query(query: Statement): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
}

export interface Statement {
  readonly text: string;
  readonly values: (string | null)[];
}

const handles = new WeakMap<object, Handle>();

/** One handle for one transaction, however often it is asked for: by it the engine knows whose turn it is. */
export function handleOf(transaction: object, query: Handle["query"]): Handle {
  let handle = handles.get(transaction);
  if (handle === undefined) handles.set(transaction, (handle = { query }));
  return handle;
}

/** A row's values in the order of its columns. */
export function valuesOf(row: unknown): readonly unknown[] {
  return Array.isArray(row) ? row : Object.values(row as object);
}
