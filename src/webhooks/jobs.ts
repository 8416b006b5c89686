import type { Write } from "../ports/index.ts";
import { inChunks, poolOf, type JobHandler, type JobRun, type JobTable } from "../queue/index.ts";
import { recoverDeliveries } from "./deliveries/recover.ts";
import { discardDeliveries } from "./deliveries/remove-deliveries.ts";
import type { WebhookRuntime } from "./options.ts";
import { deliveries, webhooks, type DeliveryRow, type WebhookRow } from "./rows.ts";
import { WebhookDrain } from "./sending/drain.ts";

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
    if (poolOf(claim.lane) === "slow_webhooks") await startSlowly(run);
    const drain = new WebhookDrain({ runtime, http, claim, run });
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

export const webhookJobs: Pick<JobTable<WebhookRuntime>, "deliver" | "recover" | "discard"> = {
  deliver,
  recover: recoverDeliveries,
  discard: inChunks((tx, { webhook_id }) => discardDeliveries(tx, webhook_id)),
};
