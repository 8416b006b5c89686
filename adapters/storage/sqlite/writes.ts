import { StorageConflict, type Write } from "../../../src/ports/storage.ts";
import { storedKey, type Stored } from "../layout.ts";
import type { Connection } from "./handle.ts";
import { positionsTable } from "./migrations.ts";
import type { Table } from "./tables.ts";

/** One statement, run for each of `rows`. Plain data: it may be sent to another thread. */
export interface Step {
  readonly sql: string;
  /** Whose rows it writes. */
  readonly collection: string;
  /** What shows that a row was still as it was when it was read. */
  readonly guard: "none" | "changes" | "finds";
  /** Where a log's rows get their positions. */
  readonly position: number | undefined;
  readonly rows: Stored[][];
}

/** A group's writes, in order, as statements. @throws StorageRefusal a value doesn't fit its column */
export function stepsOf(
  writes: readonly Write[],
  tableNamed: (name: string) => Table,
): readonly Step[] {
  const steps: Step[] = [];
  for (const write of writes) {
    const table = tableNamed(write.collection.name);
    const { sql, row, ...facts } = stepOf(write, table);
    const last = steps.at(-1);
    if (last?.sql === sql) last.rows.push(row);
    else {
      steps.push({
        sql,
        collection: write.collection.name,
        position: undefined,
        ...facts,
        rows: [row],
      });
    }
  }
  return steps;
}

type OneRow = Pick<Step, "sql" | "guard"> &
  Partial<Pick<Step, "position">> & { readonly row: Stored[] };

function stepOf(write: Write, table: Table): OneRow {
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

/** Takes the steps within the connection's open transaction. @throws StorageConflict */
export function take(steps: readonly Step[], connection: Connection): void {
  let next = firstPosition(connection, steps);
  for (const { sql, collection, guard, position, rows } of steps) {
    const statement = guard === "finds" ? connection.query(sql) : connection.statement(sql);
    for (const row of rows) {
      if (position !== undefined) row[position] = next++;
      if (guard === "finds") {
        if (statement.get(...row) === undefined) throw outdated(collection);
      } else {
        const { changes } = statement.run(...row);
        if (guard === "changes" && Number(changes) !== 1) throw outdated(collection);
      }
    }
  }
}

function outdated(collection: string): StorageConflict {
  return new StorageConflict(`a row of ${collection} was written meanwhile, or is gone`);
}

/**
 * Takes as many positions as the group's logs need. Only one transaction writes at a time, so they ascend as
 * transactions commit; they come from a row of their own, so one is never given twice, even when the log's last rows
 * were deleted.
 */
function firstPosition(connection: Connection, steps: readonly Step[]): number {
  let needed = 0;
  for (const { position, rows } of steps) needed += position === undefined ? 0 : rows.length;
  if (needed === 0) return 0;
  const taken = `UPDATE ${positionsTable} SET last = last + ? RETURNING last`;
  const [last] = connection.query(taken).get(needed) as [number];
  return last - needed + 1;
}
