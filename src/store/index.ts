export { scan, type Scan, scanAcross, ownPlaceColumns, passes, placeAt } from "./scan.ts";
export { type Reads, type ScopedRangeOf, type UnscopedReads, unscopedReadsOf } from "./reads.ts";
export { Store } from "./store.ts";
export {
  backdated,
  type Projection,
  type ReadOptions,
  type Tx,
  unscoped,
  type UnscopedTx,
} from "./transaction.ts";
