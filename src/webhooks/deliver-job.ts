import { type JobHandler, type JobRun, poolOf } from "../queue/index.ts";
import { deliveries, type DeliveryRow, type WebhookRow, webhooks } from "./rows.ts";
import type { Write } from "../ports/index.ts";
import type { WebhookRuntime } from "./options.ts";
import { WebhookDrain } from "./drain.ts";

/** Between the starts of two drains in the slow pool, in milliseconds. */
const slowStartMs = 5;

/** Sends a webhook its deliveries for as long as some are due. */
export function deliver(runtime: WebhookRuntime): JobHandler<"deliver"> {
  const { clock, http } = runtime;
  const drains = runningDrains(runtime);
  /**
   * Resolves when the last slow drain has begun. Slow drains begin one by one: receivers that hang end at their deadlines,
   * and drains that began together would all end together and delay every other job.
   */
  let begun = Promise.resolve();
  const beginSlowly = ({ isStopping, abort }: JobRun): Promise<void> => {
    begun = begun.then(() => (isStopping() ? undefined : clock.sleep(slowStartMs, abort)));
    return begun;
  };
  return async (claim, run) => {
    if (http === undefined) throw new Error("webhooks need an HTTP client");
    const leasedAt = clock.now();
    if (poolOf(claim.lane) === "slow_webhooks") await beginSlowly(run);
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

/** The drains of this engine, by webhook. Commits notify them, so that a new delivery does not wait for an earlier answer. */
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

/** The id of the webhook that was written; empty when it stays as it is. */
function webhookIdOf(write: Write): string {
  if (write.kind === "hold" || write.kind === "add") return "";
  return write.kind === "insert" ? (write.row as Pick<WebhookRow, "id">).id : String(write.key[2]);
}
