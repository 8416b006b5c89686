import { moveHistory } from "../commands/move-history.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { Store } from "../transactions/store.ts";
import { inChunks } from "./in-chunks.ts";

/** Goes on with merges that were cut off. */
export function mergeHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "merge", run: inChunks(store, moveHistory) };
}
