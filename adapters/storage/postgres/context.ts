import type { TableOf } from "../make-tables.ts";
import type { ConnectionPool } from "./connections/pool.ts";
import type { Names } from "./names.ts";
import type { Table } from "./tables/tables.ts";

/** What reads and writes need: the pool, and the names and tables of one schema. */
export interface StorageContext {
  readonly pool: ConnectionPool;
  readonly names: Names;
  readonly tableOf: TableOf<Table>;
  /** The tables of all counters, in the order in which groups write them. */
  readonly counters: readonly Table[];
}
