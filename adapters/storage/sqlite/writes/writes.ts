import { StorageConflict, type Write } from "../../../../src/ports/index.ts";
import { storedKey, type Stored } from "../../layout.ts";
import type { TableOf } from "../../make-tables.ts";
import type { Connection } from "../connections/connection.ts";
import type { Table } from "../tables/tables.ts";
import { runSteps, type Step } from "./steps.ts";

/**
 * Converts a group's writes to statements, in order. Consecutive writes with the same SQL share a
 * step.
 * @throws StorageRefusal when a value does not fit its column
 */
export function stepsOf(writes: readonly Write[], tableOf: TableOf<Table>): readonly Step[] {
  const steps: Step[] = [];
  for (const write of writes) {
    const table = tableOf(write.collection);
    const { sql, guard, row } = stepOf(write, table);
    const last = steps.at(-1);
    if (last?.sql === sql) last.rows.push(row);
    else {
      const collection = write.collection.name;
      steps.push({
        sql,
        collection,
        guard,
        positionPlace: positionPlaceOf(write, table),
        rows: [row],
      });
    }
  }
  return steps;
}

interface SingleRowStep extends Pick<Step, "sql" | "guard"> {
  readonly row: Stored[];
}

function stepOf(write: Write, table: Table): SingleRowStep {
  const { layout } = table;
  switch (write.kind) {
    case "insert":
      // A position is assigned when the step runs.
      return { sql: table.insert, guard: "none", row: layout.encode(write.row, 0) };
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

/** Returns the place of the position among the values of a log's new row. */
function positionPlaceOf(write: Write, { layout }: Table): number | undefined {
  if (write.kind !== "insert" || layout.position === undefined) return undefined;
  return layout.place(layout.position);
}

function guarded(
  table: Table,
  { key, version }: Extract<Write, { readonly version: number }>,
): Stored[] {
  return table.layout.versioned ? [...storedKey(key), version] : storedKey(key);
}

/**
 * Runs the steps in the connection's open transaction, like `runSteps`.
 * @throws StorageConflict when a row has changed since it was read
 */
export function runStepsOrThrow(steps: readonly Step[], connection: Connection): void {
  const changed = runSteps(steps, connection);
  if (changed !== undefined) throw changedError(changed);
}

/** Returns the error for a row of `collection` that has changed since it was read. */
export function changedError(collection: string): StorageConflict {
  return new StorageConflict(`a row of ${collection} was changed or deleted in the meantime`);
}
