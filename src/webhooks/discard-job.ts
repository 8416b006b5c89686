import { discardDeliveries } from "./discard-deliveries.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { Store } from "../store/store.ts";
import { inChunks } from "../queue/in-chunks.ts";

/** Removes what deleted webhooks left. */
export function discardHandler({ store }: { readonly store: Store }): JobHandler {
  return { kind: "discard", run: inChunks(store, discardDeliveries) };
}
