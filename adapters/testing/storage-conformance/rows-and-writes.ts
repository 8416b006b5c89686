/** Rows and writes that several groups of tests use. */
import {
  type Collection,
  type Lookup,
  type Row,
  type StoragePort,
  type Write,
} from "../../../src/ports/index.ts";
import { entries, entry, type Item, itemById, items, places } from "./collections.ts";

export const insert = (row: Item): Write => ({
  kind: "insert",
  collection: items,
  row: { ...row, version: 1 },
});
export const place = (country: string, town: string): Write => ({
  kind: "insert",
  collection: places,
  row: { country, town, people: 1, version: 1 },
});
export const update = (id: string, version: number, row: Item, ...changed: string[]): Write => ({
  kind: "update",
  collection: items,
  key: [id],
  version,
  row: { ...row, version: version + 1 },
  changed,
});
export const log = (id: string): Write => ({
  kind: "insert",
  collection: entries,
  row: { ...entry(id), version: 1 },
});
export const byId = (id: string): Lookup => ({ index: itemById, key: [id], limit: 1 });
export const first = async (port: StoragePort, lookup: Lookup): Promise<readonly Row[]> => {
  const [rows = []] = await port.reader.get([lookup]);
  return rows;
};
export const allIds = async (port: StoragePort): Promise<unknown[]> =>
  ids(await port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 20 }));
export const ids = (rows: readonly Row[] | undefined): unknown[] =>
  (rows ?? []).map(({ id }) => id);
/** Inserts a row that violates its type, like a bug. */
export const broken = (collection: Collection, row: Row): Write => ({
  kind: "insert",
  collection,
  row,
});
