import { StorageConflict, type Write } from "../../../src/ports/storage.ts";
import { storedKey, type Stored } from "../layout.ts";
import type { Connection } from "./handle.ts";
import { positionsTable } from "./migrations.ts";
import type { Table } from "./tables.ts";

/** Applies a group's writes, in order, within the connection's open transaction. */
export function applyWrites(
  connection: Connection,
  writes: readonly Write[],
  tableNamed: (name: string) => Table,
): void {
  let position = firstPosition(connection, writes, tableNamed);
  for (const write of writes) {
    const table = tableNamed(write.collection.name);
    switch (write.kind) {
      case "insert": {
        const { layout } = table;
        const row = layout.position === undefined ? write.row : { ...write.row, [layout.position]: position++ };
        connection.statement(table.insert).run(...layout.encode(row));
        break;
      }
      case "update": {
        const { sql, places } = table.update(write.changed);
        const values: Stored[] = places.map((place) => table.layout.encodeAt(place, write.row));
        const { changes } = connection.statement(sql).run(...values, ...storedKey(write.key), write.version);
        if (Number(changes) !== 1) throw outdated(write);
        break;
      }
      case "remove": {
        const { changes } = connection.statement(table.remove).run(...guard(table, write));
        if (Number(changes) !== 1) throw outdated(write);
        break;
      }
      case "hold":
        if (connection.query(table.hold).get(...guard(table, write)) === undefined) throw outdated(write);
        break;
      case "add":
        connection.statement(table.add).run(...table.layout.encode(write.row));
        break;
    }
  }
}

type Guarded = Extract<Write, { readonly version: number }>;

function guard(table: Table, { key, version }: Guarded): Stored[] {
  return table.layout.versioned ? [...storedKey(key), version] : storedKey(key);
}

function outdated({ collection }: Guarded): StorageConflict {
  return new StorageConflict(`a row of ${collection.name} was written meanwhile, or is gone`);
}

/**
 * Takes as many positions as the group's logs need. Only one transaction writes at a time, so they ascend as
 * transactions commit; they come from a row of their own, so one is never given twice, even when the log's last rows
 * were deleted.
 */
function firstPosition(connection: Connection, writes: readonly Write[], tableNamed: (name: string) => Table): number {
  let needed = 0;
  for (const { kind, collection } of writes) {
    if (kind === "insert" && tableNamed(collection.name).layout.position !== undefined) needed++;
  }
  if (needed === 0) return 0;
  const taken = `UPDATE ${positionsTable} SET last = last + ? RETURNING last`;
  const [last] = connection.query(taken).get(needed) as [number];
  return last - needed + 1;
}
