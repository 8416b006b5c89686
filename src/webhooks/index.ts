export { attemptByHand } from "./attempt-by-hand.ts";
export { eraseDeliveries, rewriteDeliveries } from "./clear-deliveries.ts";
export { createWebhook } from "./create.ts";
export { DeliveryReader } from "./delivery-reader.ts";
export { webhooksModule } from "./descriptor.ts";
export {
  type ConsumerHandler,
  definitionOf,
  type Event,
  type EventHandler,
  type EventMap,
  eventSchema,
} from "./event-catalog.ts";
export { fanOut } from "./fan-out.ts";
export { typesOf } from "./filter.ts";
export { webhookToChange } from "./find-to-change.ts";
export { webhookJobs } from "./jobs.ts";
export type { HttpOptions, HttpSettings, WebhookOptions, WebhookRuntime } from "./options.ts";
export { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
export { deliveryReaper, eventsWithDeliveries } from "./reap-deliveries.ts";
export { recoverWebhook } from "./recover.ts";
export { redeliver } from "./redeliver.ts";
export { removeDelivery } from "./remove-delivery.ts";
export { removeWebhook } from "./remove.ts";
export { deliveryResource } from "./resource.ts";
export { rotateWebhookSecret } from "./rotate-secret.ts";
export { deliveries } from "./rows.ts";
export { deliverJob } from "./rules.ts";
export {
  type CreatedWebhook,
  type CreateWebhook,
  type Delivery,
  type DeliveryAttempt,
  deliverySchema,
  type DeliveryWithAttempts,
  type ListDeliveries,
  type TestWebhook,
  testWebhookSchema,
  type UpdateWebhook,
  type Webhook,
} from "./types.ts";
export { updateWebhook } from "./update.ts";
export { writeDelivery } from "./write-delivery.ts";
