export { byIndex } from "./reads/index-order.ts";
export {
  type RowFilter,
  scan,
  type Scan,
  scanAcross,
  scopedPlaceColumns,
  passes,
  placeAt,
} from "./reads/scan.ts";
export {
  type Reads,
  reread,
  type ScopedRangeOf,
  type UnscopedReads,
  unscopedReadsOf,
} from "./reads/reads.ts";
export type { Origin } from "./groups/command-queue.ts";
export { isContended, isStorageFailure } from "./errors.ts";
export { background, Store } from "./store.ts";
export { backdated, isIn, rowsInScope, unscoped } from "./transactions/scoped-tx.ts";
export type {
  PlannedRead,
  Projection,
  ReadOptions,
  Starter,
  Tx,
  UnscopedTx,
} from "./transactions/transaction.ts";
