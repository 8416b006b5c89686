import { type FailedRange, recoverDeliveries as recoverChunk } from "./recover-deliveries.ts";
import { finish, type JobHandler, leaseMs } from "../queue/index.ts";
import { deliveriesOfWebhook, webhookById } from "./rows.ts";
import type { WebhookId } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Reads } from "../store/index.ts";

const own = { own: true } as const;
/** Deliveries of one transaction. */
const chunk = 200;
/** Chunks of one run. Then other jobs have their turn. */
const maxChunks = 100;

/** Schedules a webhook's deliveries again that failed since a time. */
export function recoverDeliveries({ store }: Runtime): JobHandler<"recover"> {
  return async (claim, { isStopping }) => {
    const { account_id, mode, key } = claim;
    const scope = { account_id, mode };
    for (let i = 0; i < maxChunks && !isStopping(); i++) {
      const failed = await nextFailed(store.reads(scope), key.webhook_id);
      const left = await store.commit(scope, (tx) => recoverChunk(tx, claim, failed, leaseMs), own);
      if (left === "done") return;
    }
    await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), own);
  };
}

async function nextFailed(reads: Reads, id: WebhookId): Promise<FailedRange> {
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
