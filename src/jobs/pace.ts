import { giveTurns } from "../commands/give-turns.ts";
import { type JobHandler, leaseMs } from "../dispatch/dispatcher.ts";
import type { Store } from "../transactions/store.ts";

/** Keeps the paces of senders. */
export function paceHandler({ store }: { readonly store: Store }): JobHandler {
  return {
    kind: "pace",
    run: (claim) => store.commit((tx) => giveTurns(tx, claim, leaseMs), { own: true }),
  };
}
