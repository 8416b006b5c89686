import { type Handle, handleOf, valuesOf } from "./handle.ts";

/** What is used of Kysely's transactions (kysely 0.29). */
export interface KyselyTransaction {
  /** A `Kysely` that is none has the rest too, and its statements would run on any connection. */
  readonly isTransaction: true;
  withoutPlugins(): {
    executeQuery(query: KyselyQuery): Promise<{ readonly rows: readonly unknown[] }>;
  };
}

export interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: "RawNode";
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly [];
  };
  readonly queryId: { readonly queryId: string };
}

/**
 * The `trx` of `db.transaction().execute(async (trx) => …)` on PostgreSQL, for `{ tx: fromKysely(trx) }`. On SQLite give the database
 * that you gave to the dialect.
 */
export function fromKysely(trx: KyselyTransaction): Handle {
  // What plugins make of names and values is the host's.
  const plain = trx.withoutPlugins();
  return handleOf(trx, async ({ text, values }) => {
    const { rows } = await plain.executeQuery({
      sql: text,
      parameters: values,
      query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
      queryId: { queryId: "tidings" },
    });
    return { rows: rows.map(valuesOf) };
  });
}
