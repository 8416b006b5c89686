import { type FailedStretch, recoverDeliveries } from "./recover-deliveries.ts";
import { type JobHandler, leaseMs } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import { deliveriesOfWebhook, webhookById } from "./rows.ts";
import type { Scope } from "../kernel/scope.ts";
import type { Store } from "../store/store.ts";
import type { Reads } from "../store/reads.ts";

const own = { own: true } as const;
/** Deliveries that one transaction asks for. */
const chunk = 200;
/** Chunks in one go; then others have their turn. */
const mostChunks = 100;

/** Asks by hand for what failed at a webhook since a time. */
export function recoverHandler({ store }: { readonly store: Store }): JobHandler {
  return {
    kind: "recover",
    async run(claim, { isStopping }) {
      const { account_id, mode, key } = claim;
      if (account_id === null || mode === null) throw new TypeError("a webhook is an account's");
      const scope = { account_id, mode };
      for (let i = 0; i < mostChunks && !isStopping(); i++) {
        const stretch = await nextStretch(store.reads, scope, key);
        const left = await store.commit(
          (tx) => recoverDeliveries(tx, claim, scope, stretch, leaseMs),
          own,
        );
        if (left === "done") return;
      }
      await store.commit((tx) => finish(tx, claim, { againAt: tx.now }), own);
    },
  };
}

async function nextStretch(
  reads: Reads,
  { account_id, mode }: Scope,
  id: string,
): Promise<FailedStretch> {
  const after = (await reads.get(webhookById, [account_id, mode, id]))?.recover_after ?? null;
  if (after === null) return { after, ids: [] };
  const range = {
    index: deliveriesOfWebhook,
    prefix: [account_id, mode, id, "failed"],
    order: "ascending",
    limit: chunk,
  } as const;
  const failed = await reads.range({ ...range, after: [after] });
  return { after, ids: failed.map((delivery) => delivery.id) };
}
