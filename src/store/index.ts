export { byIndex } from "./keys.ts";
export {
  type Kept,
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
export {
  backdated,
  type Begun,
  isIn,
  type PlannedRead,
  type Projection,
  type ReadOptions,
  rowsInScope,
  type Starter,
  type Tx,
  unscoped,
  type UnscopedTx,
} from "./transaction.ts";
