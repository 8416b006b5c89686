/**
 * Settings for the length of a transaction. Prepared statements are planned once for all values, so a plan must be right however full the
 * tables will be: of two ways that cost nothing while a table is empty, one is a disaster when it isn't. So the ways that don't go
 * by an index are taken off the list; and nothing is compiled, which costs more than any of these statements.
 */
import type { Names } from "./names.ts";
import type { Statement } from "./session/batch.ts";

/** How long a commit waits for an exclusive group of another process, which ends within that or is ended. */
const turnPatience = "5s";
/** How long it waits for a row or a unique key that another transaction keeps. Others' groups take milliseconds. */
const rowPatience = "250ms";
/** In a host's transaction nobody else waits for it. */
const hostRowPatience = "5s";
/** A process that stalls in the middle of a transaction loses it, so that it holds up no others for longer. */
const idlePatience = "10s";

type Setting = readonly [name: string, value: string];

const planned: readonly Setting[] = [
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

export const planSettings: Statement = select(planned.map(set));

/** A GIN index is read into a bitmap, and can't be read otherwise. */
const searching: readonly Setting[] = planned.map(([name, value]) => [
  name,
  name === "enable_bitmapscan" ? "on" : value,
]);
export const searchSettings: Statement = select(searching.map(set));

/** Before a group's writes, in a transaction of the engine's own. */
export function commitSettings({ commitLock }: Names): Statement {
  const turn = `pg_advisory_xact_lock_shared(${commitLock})`;
  return select([lockTimeout(turnPatience), turn, lockTimeout(rowPatience), ...planned.map(set)]);
}

/** At the beginning of a transaction that lasts for several round trips. */
export function transactionSettings({ commitLock }: Names, exclusive: boolean): Statement {
  const turn = `pg_advisory_xact_lock${exclusive ? "" : "_shared"}(${commitLock})`;
  const idle: Setting = ["idle_in_transaction_session_timeout", idlePatience];
  return select([
    set(idle),
    lockTimeout(turnPatience),
    turn,
    lockTimeout(rowPatience),
    ...planned.map(set),
  ]);
}

/** Before the first position that a transaction gives. Whoever has the lock waits for no other one. */
export function positionSettings({ positionLock }: Names): Statement {
  return select([lockTimeout(turnPatience), `pg_advisory_xact_lock(${positionLock})`]);
}

const hostSettings: readonly Setting[] = [["lock_timeout", hostRowPatience], ...planned];
const kept = (name: string): string => `tidings.${name}`;

/** Around writes in a host's transaction, whose own settings are put back. */
export const enterHost: Statement = select(
  hostSettings.flatMap(([name, value]) => [
    `set_config('${kept(name)}', current_setting('${name}'), true)`,
    set([name, value]),
  ]),
);
export const leaveHost: Statement = select(
  hostSettings.map(([name]) => `set_config('${name}', current_setting('${kept(name)}'), true)`),
);
