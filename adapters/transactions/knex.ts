import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";

/**
 * Returns the `tx` option for a Knex transaction on PostgreSQL:
 *
 *     knex.transaction(async (trx) => engine.messages.send(input, { tx: await fromKnex(trx) }))
 *
 * The result is the transaction's connection, a `pg` client. Knex releases it when the transaction
 * ends.
 * @throws TidingsError `invalid_option` when `trx` is not an open transaction of Knex
 */
export function fromKnex(trx: KnexTransaction): Promise<object> {
  parseOptions("fromKnex: ", knexSchema, { trx });
  return trx.client.acquireConnection();
}

const knexSchema = optionsObject({
  trx: option<KnexTransaction>("an open transaction of Knex", isOpen),
});

/** Knex itself has the same client, but would take a connection that nobody releases. */
function isOpen(trx: unknown): boolean {
  const isTransaction =
    hasMethods(trx, "isCompleted") && hasMethods(memberOf(trx, "client"), "acquireConnection");
  // Knex has given the connection of an ended transaction to others.
  return isTransaction && !(trx as KnexTransaction).isCompleted();
}

/** The parts of a Knex transaction that `fromKnex` uses (knex 3). */
export interface KnexTransaction {
  /** The client that is bound to the transaction. */
  readonly client: {
    /** Returns the transaction's own connection. */
    acquireConnection(): Promise<object>;
  };
  /** Returns whether the transaction has ended. */
  isCompleted(): boolean;
}
