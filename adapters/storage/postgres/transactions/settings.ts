/**
 * Settings for the duration of a transaction. A prepared statement is planned once for all
 * parameter values, possibly while the tables are still empty and all plans cost the same. A plan
 * has to stay right when the tables are full, so plans that do not use an index are disabled. JIT
 * compilation is disabled because it takes longer than any of these statements.
 */
import type { Access } from "../../../../src/ports/index.ts";
import type { Statement } from "../connections/statement.ts";
import { endedMark } from "../errors.ts";
import type { Names } from "../names.ts";

/**
 * How long a commit waits for an exclusive group of another process. Such a group ends within that
 * time or is ended.
 */
const commitLockTimeout = "5s";
/**
 * How long a commit waits for a row or unique key that another transaction holds. Other groups take
 * milliseconds.
 */
const rowLockTimeout = "100ms";
/** The same in a transaction of the host application, where no other command waits. */
const hostRowLockTimeout = "5s";
/**
 * How long a read waits for a table that another transaction has locked, as by ALTER TABLE. A
 * migration waits up to 10 s for a table, and reads wait behind it. A read must not wait for longer
 * than its client does (`maxSilenceMs`). Its session would stay at the server, since a session that
 * waits for a lock does not notice that its client is gone.
 */
const readLockTimeout = "15s";
/** How long a request waits for others under the same key. */
const admissionLockTimeout = "5s";
/**
 * A process that stalls inside a transaction loses the transaction, so that it does not block the
 * others for longer.
 */
const idleTimeout = "10s";

type Setting = readonly [name: string, value: string];

const plannerSettings: readonly Setting[] = [
  ["plan_cache_mode", "force_generic_plan"],
  ["enable_seqscan", "off"],
  ["enable_bitmapscan", "off"],
  ["enable_sort", "off"],
  ["enable_incremental_sort", "off"],
  ["enable_hashjoin", "off"],
  ["enable_mergejoin", "off"],
  ["jit", "off"],
];

const set = ([name, value]: Setting): string => `set_config('${name}', '${value}', true)`;
const lockTimeout = (value: string): string => set(["lock_timeout", value]);

const select = (expressions: readonly string[]): Statement => ({
  text: `SELECT ${expressions.join(", ")}`,
  values: [],
});

/** Before reads. */
export const planSettings: Statement = select([
  lockTimeout(readLockTimeout),
  ...plannerSettings.map(set),
]);

/** A GIN index can only be read by a bitmap scan. */
const searchPlannerSettings: readonly Setting[] = plannerSettings.map(([name, value]) => [
  name,
  name === "enable_bitmapscan" ? "on" : value,
]);
/** Before searches. */
export const searchSettings: Statement = select([
  lockTimeout(readLockTimeout),
  ...searchPlannerSettings.map(set),
]);

/** Before a group's writes, in a transaction of the engine. */
export const commitSettings = (names: Names): Statement => select(groupSettings(names, "_shared"));

/** At the beginning of a transaction that takes several round trips. */
export function transactionSettings(names: Names, access: Access): Statement {
  const suffix = access === "exclusive" ? "" : "_shared";
  return select([
    set(["idle_in_transaction_session_timeout", idleTimeout]),
    ...groupSettings(names, suffix),
  ]);
}

const groupSettings = ({ commitLock }: Names, suffix: "" | "_shared"): readonly string[] => [
  lockTimeout(commitLockTimeout),
  `pg_advisory_xact_lock${suffix}(${commitLock})`,
  lockTimeout(rowLockTimeout),
  ...plannerSettings.map(set),
];

/** Before the additions that wait are added to their counters (`writes/pending-counts.ts`). */
export const countSettings: Statement = select([
  lockTimeout(rowLockTimeout),
  ...plannerSettings.map(set),
]);

/** Before requests are admitted. Each locks the row of its key. */
export const admissionSettings: Statement = select([lockTimeout(admissionLockTimeout)]);

/**
 * Before the first position that a transaction assigns. The holder of the position lock waits for
 * no other lock, so there is no deadlock.
 */
export function positionSettings({ positionLock }: Names): Statement {
  return select([lockTimeout(commitLockTimeout), `pg_advisory_xact_lock(${positionLock})`]);
}

/**
 * Marks the open transaction. This is no savepoint and no query, because after those PostgreSQL
 * does not let the host application choose the isolation level.
 */
export const markTransaction: Statement = {
  text: "SET LOCAL tidings.transaction = 'open'",
  values: [],
  isKept: false,
};
/** Fails unless the marked transaction is still open. */
export const checkTransaction: Statement = {
  text:
    "SELECT CASE current_setting('tidings.transaction', true) WHEN 'open' THEN 1 " +
    `ELSE concat('${endedMark}', current_setting('tidings.transaction', true))::integer END`,
  values: [],
  isKept: false,
};

const settingsInHost: readonly Setting[] = [
  ["lock_timeout", hostRowLockTimeout],
  ...plannerSettings,
];
const savedName = (name: string): string => `tidings.${name}`;

/** Before writes in the host application's transaction. Saves its settings. */
export const enterHost: Statement = select(
  settingsInHost.flatMap(([name, value]) => [
    `set_config('${savedName(name)}', current_setting('${name}'), true)`,
    set([name, value]),
  ]),
);
/** After these writes. Restores the settings. */
export const leaveHost: Statement = select(
  settingsInHost.map(
    ([name]) => `set_config('${name}', current_setting('${savedName(name)}'), true)`,
  ),
);
