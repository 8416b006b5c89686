/**
 * Assigns positions to log rows that the host application's transactions wrote. A group assigns
 * positions just before it commits, under a lock that it holds until then. A reader that sees
 * position q therefore also sees every p < q. A transaction of the host application may stay open
 * for long, and would block everyone by holding that lock. Its rows get negative numbers instead,
 * which readers of the log do not see. After its commit, they get positions under the lock: in the
 * next group that writes to the log, before that group's own rows, or in a short transaction of the
 * first reader that reaches the end of the log. So a group's rows come after those of all
 * transactions that its commands could see.
 */
import { literal, quoted } from "../../sql.ts";
import type { ConnectionPool } from "../connections/pool.ts";
import type { Statement } from "../connections/statement.ts";
import type { Names } from "../names.ts";
import type { Table } from "../tables/tables.ts";
import { planSettings, positionSettings } from "../transactions/settings.ts";
import { nextPosition } from "./writes.ts";

/**
 * How many rows get their positions in one transaction. It has to be short, since everyone who
 * commits waits for it. It also has to be enough for all rows of a large transaction, such as a
 * batch of 1,000 messages, or the rows of the next group would come before the last of these.
 */
const maxBatch = 10_000;

/**
 * The SQL expression for the negative number of a row that a transaction of the host application
 * writes.
 */
export const unplacedPosition = ({ positions }: Names): string =>
  `-nextval(${literal(positions)}::regclass)`;

/** Returns a statement that returns a row if some of a log's rows have no position. */
export function unplacedRows({ name, layout }: Table): Statement {
  const column = quoted(layout.position ?? "");
  return { text: `SELECT 1 FROM ${name} WHERE ${column} < 0 LIMIT 1`, values: [] };
}

/** Assigns positions to all of a log's rows that have none. */
export async function assignPositions(
  pool: ConnectionPool,
  names: Names,
  table: Table,
): Promise<void> {
  const statement = assignStatement(names, table);
  let assigned: number;
  do {
    const results = await pool.atomic([planSettings, positionSettings(names), statement]);
    assigned = Number(/^UPDATE (\d+)$/.exec(results.at(-1)?.tag ?? "")?.[1] ?? 0);
  } while (assigned === maxBatch);
}

/**
 * Returns the statement that assigns positions. It skips locked rows and leaves them for the next
 * time, because waiting here would block everyone who commits.
 */
export function assignStatement(names: Names, table: Table): Statement {
  const column = quoted(table.layout.position ?? "");
  const text =
    `UPDATE ${table.name} AS t SET ${column} = placed.given FROM (` +
    `SELECT place, ${nextPosition(names)} AS given FROM (` +
    `SELECT ctid AS place FROM ${table.name} WHERE ${column} < 0 ORDER BY ${column} DESC ` +
    `LIMIT ${maxBatch} FOR UPDATE SKIP LOCKED) AS waiting) AS placed WHERE t.ctid = placed.place`;
  return { text, values: [] };
}
