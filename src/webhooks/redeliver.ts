import { arm } from "../queue/index.ts";
import { deliveryResource, webhookResource } from "./reads.ts";
import { deliveries, deliveryById, webhooks } from "./rows.ts";
import { deliverJob, maxManualAttempts, recoverJob, manualAttemptRefusal } from "./rules.ts";
import {
  type Delivery,
  type DeliveryOfWebhook,
  deliveryOfWebhookSchema,
} from "./delivery-types.ts";
import { type RecoverWebhook, recoverWebhookSchema, type Webhook } from "./types.ts";
import { firstIdAt, millis, notFound, TidingsError } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { getWebhookForUpdate } from "./webhook-commands.ts";
import { manualAttempt } from "./delivery-reader.ts";

/**
 * Requests a manual attempt of a delivery, whatever its status. A second request while one is
 * pending changes nothing.
 */
export const redeliver: Command<DeliveryOfWebhook, Delivery> = {
  kind: "command",
  name: "webhooks.redeliver",
  input: () => deliveryOfWebhookSchema,
  status: 202,
  shows: showsOutput,
  async run(tx, { id, delivery_id }) {
    const webhook = await getWebhookForUpdate(tx, id, { hold: true });
    const delivery = await tx.get(deliveryById, [delivery_id]);
    if (delivery?.webhook_id !== webhook.id) throw notFound("delivery");
    const reason = manualAttemptRefusal(delivery);
    if (reason !== undefined) throw new TidingsError("conflict", refusals[reason]);
    if (delivery.manual_at !== null) return deliveryResource(delivery, webhook.status);
    const updated = tx.update(deliveries, delivery, await manualAttempt(tx));
    await arm(tx, deliverJob(webhook, tx.now));
    return deliveryResource(updated, webhook.status);
  },
};

const refusals = {
  erased: "The delivery's content was erased, so it cannot be sent again.",
  exhausted:
    `The delivery reached the limit of ${maxManualAttempts} attempts, so it cannot be sent ` +
    "again.",
} as const;

/**
 * Schedules the failed deliveries since a time again. A job processes them, because there may be
 * many. When a recovery already runs, the earlier start time applies, and each delivery is
 * scheduled once.
 */
export const recoverWebhook: Command<RecoverWebhook, Webhook> = {
  kind: "command",
  name: "webhooks.recover",
  input: () => recoverWebhookSchema,
  status: 202,
  async run(tx, { id, since }) {
    const webhook = await getWebhookForUpdate(tx, id);
    const start = firstIdAt("dlv", millis(since));
    const { recover_after: pending } = webhook;
    const recovering = tx.update(webhooks, webhook, {
      recover_after: pending === null || start < pending ? start : pending,
    });
    await arm(tx, recoverJob(recovering, tx.now));
    return webhookResource(recovering);
  },
};
