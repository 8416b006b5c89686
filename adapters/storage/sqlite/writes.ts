import { StorageConflict, type Write } from "../../../src/ports/index.ts";
import { storedKey, type Stored } from "../layout.ts";
import type { Connection } from "./connection.ts";
import { positionsTable } from "./migrations.ts";
import type { Table } from "./tables.ts";

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
  readonly position: number | undefined;
  readonly rows: Stored[][];
}

/**
 * Converts a group's writes to statements, in order. Consecutive writes with the same SQL share a
 * step.
 * @throws StorageRefusal when a value does not fit its column
 */
export function stepsOf(
  writes: readonly Write[],
  tableNamed: (name: string) => Table,
): readonly Step[] {
  const steps: Step[] = [];
  for (const write of writes) {
    const table = tableNamed(write.collection.name);
    const { sql, row, ...rest } = stepOf(write, table);
    const last = steps.at(-1);
    if (last?.sql === sql) last.rows.push(row);
    else {
      steps.push({
        sql,
        collection: write.collection.name,
        position: undefined,
        ...rest,
        rows: [row],
      });
    }
  }
  return steps;
}

type SingleRowStep = Pick<Step, "sql" | "guard"> &
  Partial<Pick<Step, "position">> & { readonly row: Stored[] };

function stepOf(write: Write, table: Table): SingleRowStep {
  const { layout } = table;
  switch (write.kind) {
    case "insert": {
      if (layout.position === undefined) {
        return { sql: table.insert, guard: "none", row: layout.encode(write.row) };
      }
      const position = layout.place(layout.position);
      return {
        sql: table.insert,
        guard: "none",
        position,
        row: layout.encode({ ...write.row, [layout.position]: 0 }),
      };
    }
    case "update": {
      const { sql, places } = table.update(write.changed);
      const values: Stored[] = places.map((place) => layout.encodeAt(place, write.row));
      return { sql, guard: "changes", row: [...values, ...storedKey(write.key), write.version] };
    }
    case "remove":
      return { sql: table.remove, guard: "changes", row: guarded(table, write) };
    case "hold":
      return { sql: table.hold, guard: "finds", row: guarded(table, write) };
    case "add":
      return { sql: table.add, guard: "none", row: layout.encode(write.row) };
  }
}

function guarded(
  table: Table,
  { key, version }: Extract<Write, { readonly version: number }>,
): Stored[] {
  return table.layout.versioned ? [...storedKey(key), version] : storedKey(key);
}

/**
 * Runs the steps in the connection's open transaction.
 * @throws StorageConflict when a row has changed since it was read
 */
export function runSteps(steps: readonly Step[], connection: Connection): void {
  let next = firstPosition(connection, steps);
  for (const { sql, collection, guard, position, rows } of steps) {
    const statement = guard === "finds" ? connection.query(sql) : connection.statement(sql);
    for (const row of rows) {
      if (position !== undefined) row[position] = next++;
      if (guard === "finds") {
        if (statement.get(...row) === undefined) throw changedError(collection);
      } else {
        const { changes } = statement.run(...row);
        if (guard === "changes" && Number(changes) !== 1) throw changedError(collection);
      }
    }
  }
}

function changedError(collection: string): StorageConflict {
  return new StorageConflict(`a row of ${collection} was changed or deleted in the meantime`);
}

/**
 * Reserves positions for the group's log rows and returns the first. Only one transaction writes at
 * a time, so positions ascend in commit order. The last one is kept in a row of its own, so a
 * position is never used twice, even when the log's last rows were deleted.
 */
function firstPosition(connection: Connection, steps: readonly Step[]): number {
  let needed = 0;
  for (const { position, rows } of steps) needed += position === undefined ? 0 : rows.length;
  if (needed === 0) return 0;
  const reserve = `UPDATE ${positionsTable} SET last = last + ? RETURNING last`;
  const [last] = connection.query(reserve).get(needed) as [number];
  return last - needed + 1;
}
