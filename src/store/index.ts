export { look, type Look, lookAcross, ownPlaceColumns, passes, placeAt } from "./look.ts";
export { type Reads, type ScopedRangeOf, type UnscopedReads, unscopedReadsOf } from "./reads.ts";
export { backdated, unscoped } from "./scoped-tx.ts";
export { Store } from "./store.ts";
export type { Projection, ReadOptions, Tx, UnscopedTx } from "./transaction.ts";
