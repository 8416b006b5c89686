import type { AccountId, Channel, KeyId } from "../kernel/index.ts";
import {
  collection,
  integer,
  json,
  nullable,
  type RowOf,
  scoped,
  type Seen,
  text,
  time,
} from "../ports/index.ts";
import type { KeyScope } from "../operations/index.ts";
import {
  type ReadOptions,
  type Reads,
  type Tx,
  unscoped,
  unscopedReadsOf,
} from "../store/index.ts";

export const accounts = collection("accounts", {
  id: text<AccountId>(),
  name: text(),
  plan: text(),
  /** The limit of each API key. */
  requests_per_second: integer(),
  /** Null means that the engine option `timeZone` applies. */
  time_zone: nullable(text()),
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

export const keys = scoped("api_keys", {
  id: text<KeyId>(),
  name: text(),
  scopes: json<readonly KeyScope[]>(),
  /** SHA-256 of the secret, in hexadecimal. The secret itself is never stored. */
  secret_hash: text(),
  last_four: text(),
  /** Hash of the secret before the last rotation, valid until `previous_expires_at`. */
  previous_hash: nullable(text()),
  previous_expires_at: nullable(time()),
  created_at: time(),
  last_used_at: nullable(time()),
  expires_at: nullable(time()),
  revoked_at: nullable(time()),
});
export interface KeyRow extends RowOf<typeof keys> {}

export const keyById = keys.key("id");
export const keyBySecretHash = keys.acrossScopes.unique("by_secret_hash", ["secret_hash"]);
export const keyByPreviousHash = keys.acrossScopes.unique("by_previous_hash", ["previous_hash"], {
  where: { column: "previous_hash", present: true },
});

/**
 * Settings of the engine that all accounts share. `secret` is the key of keyed hashes.
 * `health_checked_at` is when a health check last tested whether the storage commits.
 */
export const settings = collection("settings", {
  name: text<"secret" | "health_checked_at">(),
  value: text(),
});

export const settingByName = settings.key("name");

/** How many messages of a channel entered a status on a day in UTC (`2026-01-31`). */
export const usage = scoped(
  "usage",
  {
    day: text(),
    channel: text<Channel>(),
    status: text(),
    messages: integer(),
    segments: integer(),
  },
  { kind: "counter" },
);

export const usageByDay = usage.key("day", "channel", "status");

/** The messages of a channel in one hour. */
export const hourlyUsage = scoped(
  "hourly_usage",
  {
    /** When the hour began. */
    hour: time(),
    channel: text<Channel>(),
    accepted: integer(),
    received: integer(),
    failed: integer(),
  },
  { kind: "counter" },
);

export const usageByHour = hourlyUsage.key("hour", "channel");

/** The deliveries of an hour by the time that they took. A narrow row is cheap to add to. */
export const deliveryTimes = scoped(
  "delivery_times",
  {
    hour: time(),
    channel: text<Channel>(),
    /** The place of the lowest bound that is not below the time. */
    bound: integer(),
    messages: integer(),
  },
  { kind: "counter" },
);

export const deliveryTimesByHour = deliveryTimes.key("hour", "channel", "bound");

/** How many messages of a sender failed with a code on a day in UTC. */
export const errorCounts = scoped(
  "error_counts",
  { day: text(), sender: text(), code: text(), messages: integer() },
  { kind: "counter" },
);

export const errorsByDay = errorCounts.key("day", "sender", "code");
