import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";
import { driverError, handleOf, noTransaction, valuesOf, type Handle } from "./handle.ts";

/**
 * Returns the `tx` option for a Kysely transaction on PostgreSQL:
 *
 *     db.transaction().execute((trx) => engine.messages.send(input, { tx: fromKysely(trx) }))
 *
 * On SQLite, pass the `DatabaseSync` on which your dialect runs its statements as `tx`.
 * @throws TidingsError `invalid_option` when `trx` is not a transaction of Kysely
 */
export function fromKysely(trx: KyselyTransaction): Handle {
  parseOptions("fromKysely: ", kyselySchema, { trx });
  // A plugin such as CamelCasePlugin would change the engine's column names and values.
  const plain = trx.withoutPlugins();
  return handleOf(trx, async ({ text, values }) => {
    try {
      const { rows } = await plain.executeQuery({
        sql: text,
        parameters: values,
        query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
        queryId: { queryId: "tidings" },
      });
      return { rows: rows.map(valuesOf) };
    } catch (error) {
      throw withSqlState(error);
    }
  });
}

const hasEnded = /^Transaction is already (?:committed|rolled back)$/;

/** Kysely refuses queries of a transaction that has ended. Adds PostgreSQL's SQLSTATE for that. */
function withSqlState(error: unknown): unknown {
  if (!(error instanceof Error) || !hasEnded.test(error.message)) return error;
  return driverError(error.message, noTransaction, error);
}

const kyselySchema = optionsObject({
  trx: option<KyselyTransaction>(
    "a transaction of Kysely",
    (trx) => memberOf(trx, "isTransaction") === true && hasMethods(trx, "withoutPlugins"),
  ),
});

/** The parts of a Kysely transaction that `fromKysely` uses (kysely 0.29). */
export interface KyselyTransaction {
  /**
   * Excludes a plain `Kysely` instance at compile time. It has the same methods, but runs each
   * statement on any connection of its pool.
   */
  readonly isTransaction: true;
  /** Returns the same transaction without the host application's plugins. */
  withoutPlugins(): {
    /** Runs a compiled query. */
    executeQuery(query: KyselyQuery): Promise<{
      /** The rows, each as an object. */
      readonly rows: readonly unknown[];
    }>;
  };
}

/** A compiled Kysely query that holds raw SQL. */
export interface KyselyQuery {
  /** The SQL text. */
  readonly sql: string;
  /** One value for each placeholder. */
  readonly parameters: readonly unknown[];
  /** The node of the syntax tree that Kysely expects beside the SQL. */
  readonly query: {
    /** The kind of node: raw SQL. */
    readonly kind: "RawNode";
    /** The SQL text, in one piece. */
    readonly sqlFragments: readonly string[];
    /** Empty: the values are in the query's own `parameters`. */
    readonly parameters: readonly [];
  };
  /** An id that Kysely passes to its plugins. */
  readonly queryId: {
    /** The text of the id. */
    readonly queryId: string;
  };
}
