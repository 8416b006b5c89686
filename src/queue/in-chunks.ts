import { type JobHandler, leaseMs } from "./dispatcher.ts";
import { finish, renew } from "./rows.ts";
import type { Store } from "../store/store.ts";
import type { Tx } from "../store/transaction.ts";
import { scopeOf } from "./scope.ts";

const own = { own: true } as const;
/** Chunks in one go; then others have their turn. */
const mostChunks = 100;

/** Work that takes many transactions, one chunk in each. The last one takes the job away. */
export function inChunks(
  store: Store,
  work: (tx: Tx, id: string) => Promise<"more" | "done">,
): JobHandler["run"] {
  return async (claim, { isStopping }) => {
    const scope = scopeOf(claim);
    for (let i = 0; i < mostChunks && !isStopping(); i++) {
      const left = await store.commit(
        scope,
        async (tx) => {
          if (!(await renew(tx, claim, leaseMs))) return "done";
          return work(tx, claim.key);
        },
        own,
      );
      if (left === "done") return;
    }
    await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), own);
  };
}
