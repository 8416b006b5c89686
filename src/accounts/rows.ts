import type { AccountId } from "../kernel/index.ts";
import type { QuietHours } from "../operations/index.ts";
import {
  collection,
  integer,
  json,
  nullable,
  text,
  time,
  type RowOf,
  type Seen,
} from "../ports/index.ts";
import {
  unscoped,
  unscopedReadsOf,
  type ReadOptions,
  type Reads,
  type Tx,
} from "../store/index.ts";

export const accounts = collection("accounts", {
  id: text<AccountId>(),
  name: text(),
  plan: text(),
  /** The limit of each API key. */
  requests_per_second: integer(),
  /** If one of these is null, the engine option of the same name applies. */
  time_zone: nullable(text()),
  opt_out_text: nullable(text()),
  opt_in_text: nullable(text()),
  help_text: nullable(text()),
  quiet_hours: nullable(json<QuietHours>()),
  created_at: time(),
});
export interface AccountRow extends RowOf<typeof accounts> {}

export const accountById = accounts.key("id");

/** Reads the account of the transaction's scope. */
export function ownAccount(tx: Tx, options?: ReadOptions): Promise<Seen<AccountRow> | undefined> {
  return unscoped(tx).get(accountById, [tx.scope.account_id], options);
}

/** Reads the account of a scope, outside transactions. */
export function readOwnAccount(reads: Reads): Promise<Seen<AccountRow> | undefined> {
  return unscopedReadsOf(reads).get(accountById, [reads.scope.account_id]);
}

/**
 * Settings of the engine that all accounts share. `secret` is the key of keyed hashes.
 * `health_checked_at` is when a health check last tested whether the storage commits.
 */
export const settings = collection("settings", {
  name: text<"secret" | "health_checked_at">(),
  value: text(),
});

export const settingByName = settings.key("name");
