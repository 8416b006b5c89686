import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";
import { handleOf, type Handle } from "./handle.ts";

/**
 * Returns the `tx` option for a Drizzle transaction on PostgreSQL (`node-postgres` or
 * `postgres-js`):
 *
 *     db.transaction((tx) => engine.messages.send(input, { tx: fromDrizzle(tx) }))
 *
 * On SQLite, call `engine.transaction`, and use `drizzle-orm/sqlite-proxy` over its `tx`. A
 * `DatabaseSync` has one transaction at a time, and everything that runs on it meanwhile belongs to
 * that transaction.
 *
 * postgres.js rolls back a transaction in which any statement fails, also when the host
 * application catches the error. After a `storage_contended` error, run the whole transaction
 * again.
 * @throws TidingsError `invalid_option` when `tx` is not a transaction of Drizzle
 */
export function fromDrizzle(tx: DrizzleTransaction): Handle {
  parseOptions("fromDrizzle: ", drizzleSchema, { tx });
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
      // Drizzle wraps the driver's error, which has the SQLSTATE.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  });
}

const drizzleSchema = optionsObject({
  tx: option<DrizzleTransaction>("a transaction of Drizzle", (tx) =>
    hasMethods(memberOf(memberOf(tx, "_"), "session"), "prepareQuery"),
  ),
});

/** The parts of a Drizzle transaction on PostgreSQL that `fromDrizzle` uses (drizzle-orm 0.45). */
export interface DrizzleTransaction {
  /** Drizzle's internals. */
  readonly _: {
    /** The session of the transaction's connection. */
    readonly session: DrizzleSession;
  };
}

/** The parts of a Drizzle session that `fromDrizzle` uses. */
export interface DrizzleSession {
  /** Prepares a statement whose rows are passed to `customResultMapper` as arrays. */
  prepareQuery(
    query: DrizzleQuery,
    fields: undefined,
    name: undefined,
    isResponseInArrayMode: boolean,
    customResultMapper: (rows: unknown[][]) => unknown[][],
  ): {
    /** Runs the statement and returns what `customResultMapper` returned. */
    execute(): Promise<unknown>;
  };
}

/** One statement for a Drizzle session. */
export interface DrizzleQuery {
  /** The SQL text. */
  sql: string;
  /** One value for each placeholder. */
  params: unknown[];
}
