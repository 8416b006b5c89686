/** What is used of Knex's transactions (knex 3). */
export interface KnexTransaction {
  readonly client: { acquireConnection(): Promise<object> };
}

/**
 * The connection of `knex.transaction(async (trx) => …)`, for `{ tx: await fromKnex(trx) }`: a client of `pg`, or on SQLite the
 * better-sqlite3 database. It is the transaction's own, and needs not be given back.
 */
export function fromKnex(trx: KnexTransaction): Promise<object> {
  return trx.client.acquireConnection();
}
