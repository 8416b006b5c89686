import type { Stored } from "../../layout.ts";
import { namePrefix } from "../../sql.ts";
import type { Connection } from "../connections/connection.ts";

/** A table with one row: the last position that any log used. */
export const positionsTable: string = `${namePrefix}positions`;

/**
 * One statement and the rows to run it for. It is plain data, so it can be sent to another thread.
 */
export interface Step {
  readonly sql: string;
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
 * read, and returns the name of its collection. It does not throw a `StorageConflict`, because an
 * error loses its class on the way from the worker thread to the main thread.
 */
export function runSteps(steps: readonly Step[], connection: Connection): string | undefined {
  let next = firstPosition(connection, steps);
  for (const { sql, collection, guard, positionPlace, rows } of steps) {
    const statement = connection.statement(sql);
    for (const row of rows) {
      if (positionPlace !== undefined) row[positionPlace] = next++;
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
  const [last] = connection.statement(reserve).get(needed) as [number];
  return last - needed + 1;
}
