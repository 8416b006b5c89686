/** Storages on a database, and rows of the conformance suite's collections. */
import type pg from "pg";
import { onTestFinished } from "vitest";
import { postgres } from "../../../../adapters/storage/postgres/index.ts";
import {
  entries,
  entriesByPosition,
  entry,
  item,
  itemById,
  items,
  schema,
  type Item,
} from "../../../../adapters/testing/conformance/storage/collections.ts";
import type { StoragePort, Write } from "../../../../src/ports/storage.ts";
import type { Database } from "../../../support/postgres/temporary-database.ts";

export const insert = (id: string, patch: Partial<Item> = {}): Write => ({
  kind: "insert",
  collection: items,
  row: { ...item(id, patch), version: 1 },
});
export const log = (id: string): Write => ({
  kind: "insert",
  collection: entries,
  row: { ...entry(id), version: 1 },
});
export const close = (id: string): Write => ({
  kind: "update",
  collection: items,
  key: [id],
  version: 1,
  row: { ...item(id, { state: "closed" }), version: 2 },
  changed: ["state"],
});
export const ids = (rows: readonly object[] | undefined): unknown[] =>
  (rows ?? []).map((row): unknown => Reflect.get(row, "id"));

export async function opened(
  where: Database,
  options: pg.PoolConfig = {},
  schemaName = "public",
): Promise<Required<StoragePort>> {
  const port = postgres({ pool: where.pool(options), schema: schemaName });
  onTestFinished(() => port.close());
  await port.open(schema);
  return port as Required<StoragePort>;
}

export async function client(where: Database, options: pg.PoolConfig = {}): Promise<pg.PoolClient> {
  const taken = await where.pool(options).connect();
  taken.on("error", () => {});
  onTestFinished(() => taken.release(true));
  return taken;
}

export const allIds = async (port: StoragePort): Promise<unknown[]> =>
  ids(await port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 100 }));
export const followed = async (port: StoragePort): Promise<readonly object[]> =>
  port.reader.range({ index: entriesByPosition, prefix: [], order: "ascending", limit: 100 });
