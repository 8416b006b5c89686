import { eraseHistory } from "./erase-history.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { Store } from "../store/store.ts";
import { inChunks } from "../queue/in-chunks.ts";

/** Goes on with erasures that were cut off. */
export function eraseHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "erase", run: inChunks(store, eraseHistory) };
}
