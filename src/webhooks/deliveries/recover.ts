import {
  firstIdAt,
  millis,
  withId,
  type ById,
  type DeliveryId,
  type WebhookId,
} from "../../kernel/index.ts";
import { showsNothing, type Command, type Runtime } from "../../operations/index.ts";
import {
  arm,
  finish,
  renew,
  runChunks,
  type ChunkResult,
  type Claim,
  type JobHandler,
} from "../../queue/index.ts";
import { background, type Reads, type Tx } from "../../store/index.ts";
import { requireWebhook } from "../commands.ts";
import { recoverWebhookSchema, type RecoverWebhook } from "../input-types.ts";
import { deliverJob, recoverJob } from "../job-orders.ts";
import { deliveries, deliveriesOfWebhook, deliveryById, webhookById, webhooks } from "../rows.ts";
import { webhookResource } from "../show.ts";
import type { Webhook } from "../types.ts";
import { manualAttemptRefusal } from "./delivery-rules.ts";
import { manualRequest } from "./redeliver.ts";

/**
 * Schedules the failed deliveries since a time again. A job processes them, because there may be
 * many. While a recovery runs, a second request with the same or a later time does not start again,
 * so that no delivery is scheduled twice. A delivery that failed after the recovery had passed it
 * needs another request when the recovery has ended. A request with an earlier time starts again
 * from that time.
 */
export const recoverWebhook: Command<RecoverWebhook & ById, Webhook> = {
  kind: "command",
  name: "webhooks.recover",
  input: () => withId(recoverWebhookSchema, "The id of the webhook."),
  status: 202,
  shows: showsNothing,
  async run(tx, { id, since }) {
    const webhook = await requireWebhook(tx, id);
    const start = firstIdAt("dlv", millis(since));
    const { recover_after, recover_since } = webhook;
    const isNewStart = recover_after === null || recover_since === null || start < recover_since;
    // The webhook is written in any case: a recovery that is about to end then looks again for
    // deliveries that failed before this request.
    const position = isNewStart ? { recover_after: start, recover_since: start } : {};
    tx.update(webhooks, webhook, position);
    await arm(tx, recoverJob(webhook, tx.now));
    return webhookResource(webhook);
  },
};

/** Deliveries per transaction. */
const chunk = 200;

/** Schedules the failed deliveries of a webhook again, from the requested time on. */
export function recoverDeliveries(runtime: Runtime): JobHandler<"recover"> {
  const { store } = runtime;
  return (claim, run) =>
    runChunks(runtime, claim, run, async () => {
      const failed = await nextFailed(store.reads(claim), claim.key.webhook_id);
      return store.commit(claim, (tx) => recoverChunk(tx, claim, failed), background);
    });
}

/** Failed deliveries of a webhook in the order of their ids. Empty when none is left. */
interface FailedRange {
  /** The recovery position when the deliveries were read. */
  readonly after: string | null;
  /** The version of the webhook's row before the deliveries were read. */
  readonly version: number;
  readonly ids: readonly DeliveryId[];
}

async function nextFailed(reads: Reads, id: WebhookId): Promise<FailedRange> {
  const webhook = await reads.get(webhookById, [id]);
  const { recover_after: after = null, version = 0 } = webhook ?? {};
  if (after === null) return { after, version, ids: [] };
  const failed = await reads.range({
    index: deliveriesOfWebhook,
    prefix: [id, "failed"],
    order: "ascending",
    after: [after],
    limit: chunk,
  });
  return { after, version, ids: failed.map((delivery) => delivery.id) };
}

/**
 * Requests manual attempts for a range. The progress is written in the same transaction, so an
 * interrupted job does not schedule a delivery twice.
 */
async function recoverChunk(
  tx: Tx,
  claim: Claim<"recover">,
  { after, version, ids }: FailedRange,
): Promise<ChunkResult> {
  if ((await renew(tx, claim)) === undefined) return "done";
  const webhook = await tx.get(webhookById, [claim.key.webhook_id]);
  if (webhook === undefined || webhook.recover_after === null) {
    await finish(tx, claim);
    return "done";
  }
  // A new request has moved the start further back.
  if (webhook.recover_after !== after) return "more";
  const last = ids.at(-1);
  if (last === undefined) {
    // A request since then may be about a delivery that failed after the range was read.
    if (webhook.version !== version) return "more";
    tx.update(webhooks, webhook, { recover_after: null, recover_since: null });
    await finish(tx, claim);
    return "done";
  }
  await requestAttempts(tx, ids);
  const recovering = tx.update(webhooks, webhook, { recover_after: last });
  await arm(tx, deliverJob(recovering, tx.now));
  return "more";
}

/** Requests a manual attempt of each of these deliveries that is still failed. */
async function requestAttempts(tx: Tx, ids: readonly DeliveryId[]): Promise<void> {
  const request = await manualRequest(tx);
  const found = await Promise.all(ids.map((id) => tx.get(deliveryById, [id])));
  for (const delivery of found) {
    if (delivery?.status !== "failed" || delivery.manual_at !== null) continue;
    if (manualAttemptRefusal(delivery) === undefined) tx.update(deliveries, delivery, request);
  }
}
