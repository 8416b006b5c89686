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
 * @throws TidingsError `invalid_option` when `trx` is not a transaction of Knex
 */
export function fromKnex(trx: KnexTransaction): Promise<object> {
  parseOptions("fromKnex: ", knexSchema, { trx });
  return trx.client.acquireConnection();
}

const knexSchema = optionsObject({
  trx: option<KnexTransaction>("a transaction of Knex", (trx) =>
    hasMethods(memberOf(trx, "client"), "acquireConnection"),
  ),
});

/** The parts of a Knex transaction that `fromKnex` uses (knex 3). */
export interface KnexTransaction {
  /** The client that is bound to the transaction. */
  readonly client: {
    /** Returns the transaction's own connection. */
    acquireConnection(): Promise<object>;
  };
}
