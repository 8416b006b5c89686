/**
 * Functions that turn a query builder's open transaction into a value for the `tx` option of a
 * command, so that the command commits or rolls back together with the host application's rows.
 */

import {
  memberOf,
  hasMethods,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";

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

/** The parts of a Knex transaction that `fromKnex` uses (knex 3). */
export interface KnexTransaction {
  /** The client that is bound to the transaction. */
  readonly client: {
    /** Returns the transaction's own connection. */
    acquireConnection(): Promise<object>;
  };
}

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

/** The parts of a Prisma interactive transaction that `fromPrisma` uses (Prisma 7). */
export interface PrismaTransaction {
  /** Runs a statement and returns its rows as objects. */
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
}

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

/**
 * Returns the `tx` option for a Knex transaction on PostgreSQL:
 *
 *     knex.transaction(async (trx) => engine.messages.send(input, { tx: await fromKnex(trx) }))
 *
 * The result is the transaction's connection, a `pg` client. Knex releases it when the transaction
 * ends.
 * @throws TidingsError `invalid_option` when `trx` is not a transaction of Knex
 */
export function fromKnex(trx: KnexTransaction): Promise<object> {
  parseOptions("fromKnex: ", knexSchema, { trx });
  return trx.client.acquireConnection();
}

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
    const { rows } = await plain.executeQuery({
      sql: text,
      parameters: values,
      query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
      queryId: { queryId: "tidings" },
    });
    return { rows: rows.map(valuesOf) };
  });
}

/**
 * Returns the `tx` option for a Prisma interactive transaction on PostgreSQL:
 *
 *     prisma.$transaction((tx) => engine.messages.send(input, { tx: fromPrisma(tx) }))
 * @throws TidingsError `invalid_option` when `tx` is not a transaction of Prisma
 */
export function fromPrisma(tx: PrismaTransaction): Handle {
  parseOptions("fromPrisma: ", prismaSchema, { tx });
  return handleOf(tx, async ({ text, values }) => {
    try {
      const rows = (await tx.$queryRawUnsafe(text, ...values)) as readonly unknown[];
      return { rows: rows.map(valuesOf) };
    } catch (error) {
      throw withSqlState(error);
    }
  });
}

const drizzleSchema = optionsObject({
  tx: option<DrizzleTransaction>("a transaction of Drizzle", (tx) =>
    hasMethods(memberOf(memberOf(tx, "_"), "session"), "prepareQuery"),
  ),
});
const knexSchema = optionsObject({
  trx: option<KnexTransaction>("a transaction of Knex", (trx) =>
    hasMethods(memberOf(trx, "client"), "acquireConnection"),
  ),
});
const kyselySchema = optionsObject({
  trx: option<KyselyTransaction>(
    "a transaction of Kysely",
    (trx) => memberOf(trx, "isTransaction") === true && hasMethods(trx, "withoutPlugins"),
  ),
});
const prismaSchema = optionsObject({
  tx: option<PrismaTransaction>("a transaction of Prisma", (tx) =>
    hasMethods(tx, "$queryRawUnsafe"),
  ),
});

const handles = new WeakMap<object, Handle>();

/**
 * Returns the same handle for the same transaction each time. The engine runs the commands of one
 * transaction one after the other, and recognizes the transaction by its handle.
 */
function handleOf(transaction: object, query: Handle["query"]): Handle {
  let handle = handles.get(transaction);
  if (handle === undefined) handles.set(transaction, (handle = { query }));
  return handle;
}

/** Returns a row's values in column order. */
function valuesOf(row: unknown): readonly unknown[] {
  return Array.isArray(row) ? row : Object.values(row as object);
}

/** Returns the driver's error, with the SQLSTATE as its `code`, from Prisma's error. */
function withSqlState(error: unknown): unknown {
  const driverError = driverErrorOf(error);
  if (driverError === undefined) return error;
  return Object.assign(new Error(driverError.originalMessage, { cause: error }), {
    code: driverError.originalCode,
  });
}

/** The driver's code and message, at `meta.driverAdapterError.cause` of a Prisma error. */
interface DriverError {
  readonly originalCode: string;
  readonly originalMessage: string;
}

function driverErrorOf(error: unknown): DriverError | undefined {
  let value: unknown = error;
  for (const name of ["meta", "driverAdapterError", "cause"]) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  if (typeof value !== "object" || value === null) return undefined;
  return "originalCode" in value && "originalMessage" in value ? (value as DriverError) : undefined;
}
