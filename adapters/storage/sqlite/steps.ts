import type { Stored } from "../layout.ts";
import { namePrefix } from "../sql.ts";
import type { Connection } from "./connection.ts";

/** A table with one row: the last position that any log used. */
export const positionsTable: string = `${namePrefix}positions`;

/**
 * The number of rows that one statement inserts if a step has so many. With 8, SQLite prepares and
 * ends few statements, and few of a step's rows are left for single ones.
 */
export const rowsAtOnce = 8;

/**
 * One statement and the rows to run it for. It is plain data, so it can be sent to another thread.
 */
export interface Step {
  readonly sql: string;
  /** The same for `rowsAtOnce` rows. Undefined if each row needs a statement. */
  readonly manySql: string | undefined;
  /** The collection that the statement writes, for error messages. */
  readonly collection: string;
  /**
   * What proves that a row has not changed since it was read: nothing to prove, the number of
   * changed rows, or a found row.
   */
  readonly guard: "none" | "changes" | "finds";
  /** The place of a log's position among a row's values. */
  readonly positionPlace: number | undefined;
  readonly rows: Stored[][];
}

/**
 * Runs the steps in the connection's open transaction. Stops at a row that has changed since it was
 * read, and returns the name of its collection. If it does, or if it throws, some writes may have
 * been made, and the caller must undo them.
 */
export function runSteps(steps: readonly Step[], connection: Connection): string | undefined {
  let next = firstPosition(connection, steps);
  for (const step of steps) {
    const { sql, collection, guard, positionPlace, rows } = step;
    if (positionPlace !== undefined) for (const row of rows) row[positionPlace] = next++;
    const statement = guard === "finds" ? connection.query(sql) : connection.statement(sql);
    for (const row of rows.slice(runMany(step, connection))) {
      if (guard === "finds") {
        if (statement.get(...row) === undefined) return collection;
      } else {
        const { changes } = statement.run(...row);
        if (guard === "changes" && Number(changes) !== 1) return collection;
      }
    }
  }
  return undefined;
}

/** Runs a step for its first rows, `rowsAtOnce` at a time. Returns for how many rows. */
function runMany({ manySql, rows }: Step, connection: Connection): number {
  if (manySql === undefined || rows.length < rowsAtOnce) return 0;
  const statement = connection.statement(manySql);
  let done = 0;
  for (; done + rowsAtOnce <= rows.length; done += rowsAtOnce) {
    statement.run(...rows.slice(done, done + rowsAtOnce).flat());
  }
  return done;
}

/**
 * Reserves positions for the group's log rows and returns the first. Only one transaction writes at
 * a time, so positions ascend in commit order. The last one is kept in a row of its own, so a
 * position is never used twice, even when the log's last rows were deleted.
 */
function firstPosition(connection: Connection, steps: readonly Step[]): number {
  let needed = 0;
  for (const { positionPlace, rows } of steps) {
    if (positionPlace !== undefined) needed += rows.length;
  }
  if (needed === 0) return 0;
  const reserve = `UPDATE ${positionsTable} SET last = last + ? RETURNING last`;
  const [last] = connection.query(reserve).get(needed) as [number];
  return last - needed + 1;
}
