import { giveTurns } from "./release-throttled.ts";
import { type JobHandler, leaseMs } from "../queue/dispatcher.ts";
import type { Store } from "../store/store.ts";

/** Keeps the paces of senders. */
export function paceHandler({ store }: { readonly store: Store }): JobHandler {
  return {
    kind: "pace",
    run: (claim) => store.commit((tx) => giveTurns(tx, claim, leaseMs), { own: true }),
  };
}
