import {
  arm,
  type Claim,
  finish,
  inChunks,
  type JobHandler,
  type JobRun,
  type JobTable,
  leaseMs,
  poolOf,
  renew,
} from "../queue/index.ts";
import {
  deliveries,
  deliveriesOfWebhook,
  deliveryById,
  type DeliveryRow,
  webhookById,
  type WebhookRow,
  webhooks,
} from "./rows.ts";
import type { Write } from "../ports/index.ts";
import type { WebhookRuntime } from "./post-delivery.ts";
import { WebhookDrain } from "./drain.ts";
import type { DeliveryId, WebhookId } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import { background, type Reads, type Tx } from "../store/index.ts";
import { deliverJob, manualAttemptRefusal } from "./rules.ts";
import { manualAttempt } from "./webhook-waker.ts";
import { discardDeliveries } from "./remove-deliveries.ts";

/** The time between the starts of two drains in the slow pool, in milliseconds. */
const slowStartMs = 5;

/** Sends a webhook its deliveries while some are due. */
function deliver(runtime: WebhookRuntime): JobHandler<"deliver"> {
  const { clock, http } = runtime;
  const drains = runningDrains(runtime);
  /**
   * Resolves when the next slow drain may start. Slow drains start one by one. If they started
   * together, requests to receivers that hang would all reach their deadlines at once and delay
   * every other job.
   */
  let mayStart = Promise.resolve();
  const startSlowly = ({ stopping }: JobRun): Promise<void> => {
    const start = mayStart;
    mayStart = start.then(() => clock.sleep(slowStartMs, stopping));
    return start;
  };
  return async (claim, run) => {
    if (http === undefined) {
      throw new Error("Webhooks need an HTTP client. Set the engine option `http`.");
    }
    const leasedAt = clock.now();
    if (poolOf(claim.lane) === "slow_webhooks") await startSlowly(run);
    const drain = new WebhookDrain({ runtime, http, claim, run, leasedAt });
    const { webhook_id } = claim.key;
    drains.set(webhook_id, drain);
    try {
      await drain.run();
    } finally {
      drains.delete(webhook_id);
    }
  };
}

/**
 * The running drains of this engine by webhook id. Commits notify them, so that a new delivery does
 * not wait until an earlier response arrives.
 */
function runningDrains({ store }: WebhookRuntime): Map<string, WebhookDrain> {
  const drains = new Map<string, WebhookDrain>();
  store.onCommit((writes) => {
    if (drains.size === 0) return;
    for (const write of writes) {
      if (write.collection === webhooks) drains.get(webhookIdOf(write))?.webhookChanged();
      if (write.collection !== deliveries || !("row" in write)) continue;
      const { id, webhook_id } = write.row as Pick<DeliveryRow, "id" | "webhook_id">;
      drains.get(webhook_id)?.deliveryWritten(id, write.kind === "insert");
    }
  });
  return drains;
}

/**
 * Returns the id of the webhook that was written, or an empty string when the write does not change
 * it.
 */
function webhookIdOf(write: Write): string {
  if (write.kind === "hold" || write.kind === "add") return "";
  return write.kind === "insert" ? (write.row as Pick<WebhookRow, "id">).id : String(write.key[2]);
}

/** Deliveries per transaction. */
const recoverPage = 200;
/** Chunks per run. Then other jobs can run. */
const maxChunks = 100;

/** Schedules the failed deliveries of a webhook again, from the requested time on. */
function recoverDeliveries({ store }: Runtime): JobHandler<"recover"> {
  return async (claim, { stopping }) => {
    const { account_id, mode, key } = claim;
    const scope = { account_id, mode };
    for (let i = 0; i < maxChunks && !stopping.aborted; i++) {
      const failed = await nextFailed(store.reads(scope), key.webhook_id);
      const left = await store.commit(scope, (tx) => recoverChunk(tx, claim, failed), background);
      if (left === "done") return;
    }
    await store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now }), background);
  };
}

async function nextFailed(reads: Reads, id: WebhookId): Promise<FailedRange> {
  const webhook = await reads.get(webhookById, [id]);
  const { recover_after: after = null, version = 0 } = webhook ?? {};
  if (after === null) return { after, version, ids: [] };
  const range = {
    index: deliveriesOfWebhook,
    prefix: [id, "failed"],
    order: "ascending",
    limit: recoverPage,
  } as const;
  const failed = await reads.range({ ...range, after: [after] });
  return { after, version, ids: failed.map((delivery) => delivery.id) };
}

/** Failed deliveries of a webhook in the order of their ids. Empty when none is left. */
interface FailedRange {
  /** The recovery position when the deliveries were read. */
  readonly after: string | null;
  /** The version of the webhook's row before the deliveries were read. */
  readonly version: number;
  readonly ids: readonly DeliveryId[];
}

/**
 * Requests manual attempts for a range. The progress is written in the same transaction, so an
 * interrupted job does not schedule a delivery twice.
 */
async function recoverChunk(
  tx: Tx,
  claim: Claim<"recover">,
  { after, version, ids }: FailedRange,
): Promise<"more" | "done"> {
  if (!(await renew(tx, claim, leaseMs))) return "done";
  const webhook = await tx.get(webhookById, [claim.key.webhook_id]);
  const last = ids.at(-1) ?? null;
  if (webhook !== undefined && webhook.recover_after !== null) {
    // A new request has moved the start further back.
    if (webhook.recover_after !== after) return "more";
    // A request since then may be about a delivery that failed after the range was read.
    if (last === null && webhook.version !== version) return "more";
    const request = await manualAttempt(tx);
    const found = await Promise.all(ids.map((id) => tx.get(deliveryById, [id])));
    for (const delivery of found) {
      if (delivery?.status !== "failed" || delivery.manual_at !== null) continue;
      if (manualAttemptRefusal(delivery) === undefined) tx.update(deliveries, delivery, request);
    }
    const recovering = tx.update(webhooks, webhook, {
      recover_after: last,
      ...(last === null ? { recover_since: null } : {}),
    });
    if (last !== null) {
      await arm(tx, deliverJob(recovering, tx.now));
      return "more";
    }
  }
  await finish(tx, claim);
  return "done";
}

export const webhookJobs: Pick<JobTable<WebhookRuntime>, "deliver" | "recover" | "discard"> = {
  deliver,
  recover: recoverDeliveries,
  discard: inChunks((tx, { webhook_id }) => discardDeliveries(tx, webhook_id)),
};
