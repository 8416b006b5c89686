import type { AccountId } from "../kernel/index.ts";
import {
  collection,
  integer,
  nullable,
  type RowOf,
  type Seen,
  text,
  time,
} from "../ports/index.ts";
import { type ReadOptions, type Tx, unscoped } from "../store/index.ts";

export const accounts = collection("accounts", {
  id: text<AccountId>(),
  name: text(),
  plan: text(),
  /** Requests in any one second for each of its keys. */
  requests_per_second: integer(),
  /** Null: the one that the host gave the engine. */
  time_zone: nullable(text()),
  created_at: time(),
});
export interface AccountRow extends RowOf<typeof accounts> {}

export const accountById = accounts.key("id");

/** The account whose scope it is. */
export function ownAccount(tx: Tx, options?: ReadOptions): Promise<Seen<AccountRow> | undefined> {
  return unscoped(tx).get(accountById, [tx.scope.account_id], options);
}
