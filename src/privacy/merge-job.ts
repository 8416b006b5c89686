import { moveHistory } from "./move-history.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { Store } from "../store/store.ts";
import { inChunks } from "../queue/in-chunks.ts";

/** Goes on with merges that were cut off. */
export function mergeHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "merge", run: inChunks(store, moveHistory) };
}
