export { byIndex } from "./index-order.ts";
export {
  type RowFilter,
  scan,
  type Scan,
  scanAcross,
  scopedPlaceColumns,
  passes,
  placeAt,
} from "./scan.ts";
export { type Reads, type ScopedRangeOf, type UnscopedReads, unscopedReadsOf } from "./reads.ts";
export type { Origin } from "./command-queue.ts";
export { isStorageFailure } from "./errors.ts";
export { reread } from "./reread.ts";
export { background, Store } from "./store.ts";
export { backdated, isIn, rowsInScope, unscoped } from "./scoped-tx.ts";
export type {
  Begun,
  PlannedRead,
  Projection,
  ReadOptions,
  Starter,
  Tx,
  UnscopedTx,
} from "./transaction.ts";
