import { discardDeliveries } from "../commands/discard-deliveries.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { Store } from "../transactions/store.ts";
import { inChunks } from "./in-chunks.ts";

/** Removes what deleted webhooks left. */
export function discardHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "discard", run: inChunks(store, discardDeliveries) };
}
