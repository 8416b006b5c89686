export {
  deliveryReaper,
  eraseDeliveries,
  eventsWithDeliveries,
  removeDelivery,
  rewriteDeliveries,
} from "./remove-deliveries.ts";
export { getWebhookForUpdate } from "./webhook-commands.ts";
export { DeliveryReader, manualAttempt } from "./delivery-reader.ts";
export {
  anyEventSchema,
  type ConsumerHandler,
  eventDefinitionOf,
  type Event,
  type EventHandler,
  type EventMap,
} from "./event-catalog.ts";
export { fanOut, writeDelivery } from "./fan-out.ts";
export { eventTypesOf } from "./fields.ts";
export type { HttpOptions, HttpSettings, WebhookOptions, WebhookRuntime } from "./post-delivery.ts";
export { deliveryResource } from "./reads.ts";
export { deliveries } from "./rows.ts";
export { deliverJob } from "./rules.ts";
export {
  type CreatedWebhook,
  type CreateWebhook,
  type TestWebhook,
  testWebhookSchema,
  type UpdateWebhook,
  type Webhook,
} from "./types.ts";
export {
  type Delivery,
  type DeliveryAttempt,
  deliverySchema,
  type DeliveryWithAttempts,
  type DeliveryWithBody,
  type ListDeliveries,
} from "./delivery-types.ts";
