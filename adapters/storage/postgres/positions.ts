/**
 * Positions for the rows of logs that hosts' transactions wrote. A group takes positions just before it commits, under a lock that it
 * keeps until then, so whoever sees q > p has seen p. A host's transaction may stay open for long, and that lock would stop
 * everybody. So its rows get numbers below zero, in their order, which no reader of the log sees, and whoever reads a log's end
 * first gives positions to what has none: in a short transaction, under the lock.
 */
import type { Connections } from "./connections.ts";
import { literal, type Names, quoted } from "./names.ts";
import type { Statement } from "./session/batch.ts";
import { positionSettings, planSettings } from "./settings.ts";
import type { Table } from "./tables.ts";
import { nextPosition } from "./writes.ts";

/** Rows that are placed in one transaction, so that it is short. */
const mostAtOnce = 1_000;

/** The SQL for the position of a row that a host's transaction writes. */
export const waitingPosition = ({ positions }: Names): string =>
  `-nextval(${literal(positions)}::regclass)`;

/** Answers a row when some of a log's rows have no position. */
export function waiting(table: Table, position: string): Statement {
  return { text: `SELECT 1 FROM ${table.name} WHERE ${quoted(position)} < 0 LIMIT 1`, values: [] };
}

export async function place(
  connections: Connections,
  names: Names,
  table: Table,
  position: string,
): Promise<void> {
  const statement = placing(names, table, position);
  for (let placed = mostAtOnce; placed === mostAtOnce;) {
    const results = await connections.atomic([planSettings, positionSettings(names), statement]);
    placed = Number(/^UPDATE (\d+)$/.exec(results.at(-1)?.tag ?? "")?.[1] ?? 0);
  }
}

/** Who waits for a row here holds up all that commit, so rows that others are writing are left for the next time. */
export function placing(names: Names, table: Table, position: string): Statement {
  const column = quoted(position);
  const text =
    `UPDATE ${table.name} AS t SET ${column} = placed.given FROM (` +
    `SELECT place, ${nextPosition(names)} AS given FROM (` +
    `SELECT ctid AS place FROM ${table.name} WHERE ${column} < 0 ORDER BY ${column} DESC ` +
    `LIMIT ${mostAtOnce} FOR UPDATE SKIP LOCKED) AS waiting) AS placed WHERE t.ctid = placed.place`;
  return { text, values: [] };
}
