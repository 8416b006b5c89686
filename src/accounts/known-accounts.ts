import { boundedCache, notFound, type AccountId } from "../kernel/index.ts";
import type { Store } from "../store/index.ts";
import { accountById, type AccountRow } from "./rows.ts";

/** Checks that accounts exist. An account is looked up once, because accounts are never removed. */
export class KnownAccounts {
  readonly #store: Store;
  readonly #known = boundedCache<AccountId, true>(10_000);
  /** Look-ups in progress. Calls that look for the same account share one. */
  readonly #reading = new Map<AccountId, Promise<AccountRow | undefined>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Call it when the storage is open. `tx` is the host application's transaction, if there is one:
   * it may have created the account, and a caller that holds a connection must not wait for a
   * second one.
   * @throws TidingsError `not_found` when there is no such account
   */
  async check(account_id: AccountId, tx?: object): Promise<void> {
    if (this.#known.has(account_id)) return;
    const account =
      tx === undefined
        ? await this.#read(account_id)
        : await this.#store.withinUnscoped(tx, (within) => within.get(accountById, [account_id]));
    if (account === undefined) throw notFound("account");
    // The transaction may still roll back, so its accounts are not cached.
    if (tx === undefined) this.#known.set(account_id, true);
  }

  /** Calls go on in the order in which they came, whether they share the look-up or begin it. */
  async #read(account_id: AccountId): Promise<AccountRow | undefined> {
    const shared = this.#reading.get(account_id);
    const account = await (shared ?? this.#begin(account_id));
    // A look-up that finds nothing may have begun before the account was created.
    return account === undefined && shared !== undefined ? this.#begin(account_id) : account;
  }

  #begin(account_id: AccountId): Promise<AccountRow | undefined> {
    const reading = this.#store.unscopedReads
      .get(accountById, [account_id])
      .finally(() => this.#reading.delete(account_id));
    this.#reading.set(account_id, reading);
    return reading;
  }
}
