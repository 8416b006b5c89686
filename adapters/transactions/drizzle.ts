import { type Handle, handleOf } from "./handle.ts";

/** What is used of Drizzle's transactions on PostgreSQL (drizzle-orm 0.45). */
export interface DrizzleTransaction {
  readonly _: { readonly session: DrizzleSession };
}

export interface DrizzleSession {
  prepareQuery(
    query: { sql: string; params: unknown[] },
    fields: undefined,
    name: undefined,
    isResponseInArrayMode: boolean,
    customResultMapper: (rows: unknown[][]) => unknown[][],
  ): { execute(): Promise<unknown> };
}

/**
 * The `tx` of `db.transaction(async (tx) => …)` on PostgreSQL (`node-postgres`, `postgres-js`), for `{ tx: fromDrizzle(tx) }`. On SQLite
 * Drizzle's transactions are synchronous: open one on `db.$client`, and give that. postgres.js rolls back a transaction in which a
 * statement failed, also when a conflict of versions was one: run it again as a whole.
 */
export function fromDrizzle(tx: DrizzleTransaction): Handle {
  return handleOf(tx, async ({ text, values }) => {
    const { session } = tx._;
    const prepared = session.prepareQuery(
      { sql: text, params: values },
      undefined,
      undefined,
      true,
      (rows) => rows,
    );
    try {
      return { rows: (await prepared.execute()) as unknown[][] };
    } catch (error) {
      // Drizzle wraps what the driver threw.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  });
}
