import { eraseHistory } from "../commands/erase-history.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { Store } from "../transactions/store.ts";
import { inChunks } from "./in-chunks.ts";

/** Goes on with erasures that were cut off. */
export function eraseHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "erase", run: inChunks(store, eraseHistory) };
}
