import { type FailedStretch, recoverDeliveries } from "./recover-deliveries.ts";
import { type JobHandler, leaseMs } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import { deliveriesOfWebhook, webhookById } from "./rows.ts";
import type { Store } from "../store/store.ts";
import type { Reads } from "../store/reads.ts";
import { scopeOf } from "../queue/scope.ts";

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
      const scope = scopeOf(claim);
      for (let i = 0; i < mostChunks && !isStopping(); i++) {
        const stretch = await nextStretch(store.reads(scope), claim.key);
        const left = await store.commit(
          scope,
          (tx) => recoverDeliveries(tx, claim, stretch, leaseMs),
          own,
        );
        if (left === "done") return;
      }
      await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), own);
    },
  };
}

async function nextStretch(reads: Reads, id: string): Promise<FailedStretch> {
  const after = (await reads.get(webhookById, [id]))?.recover_after ?? null;
  if (after === null) return { after, ids: [] };
  const range = {
    index: deliveriesOfWebhook,
    prefix: [id, "failed"],
    order: "ascending",
    limit: chunk,
  } as const;
  const failed = await reads.range({ ...range, after: [after] });
  return { after, ids: failed.map((delivery) => delivery.id) };
}
