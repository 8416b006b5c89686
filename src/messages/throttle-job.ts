import { giveTurns } from "./release-throttled.ts";
import { type JobHandler, leaseMs } from "../queue/dispatcher.ts";
import type { Store } from "../store/store.ts";
import { scopeOf } from "../queue/scope.ts";

/** Keeps the paces of senders. */
export function paceHandler({ store }: { readonly store: Store }): JobHandler {
  return {
    kind: "pace",
    run: (claim) =>
      store.commit(scopeOf(claim), (tx) => giveTurns(tx, claim, leaseMs), { own: true }),
  };
}
