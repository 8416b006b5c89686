export { eraseDeliveries, rewriteDeliveries } from "./deliveries/erase-deliveries.ts";
export {
  deliveryReaper,
  eventsWithDeliveries,
  removeDelivery,
} from "./deliveries/remove-deliveries.ts";
export { requireWebhook } from "./commands.ts";
export { WebhookWaker } from "./deliveries/webhook-waker.ts";
export { anyEventSchema, eventDefinitionOf, type Event, type EventMap } from "./event-catalog.ts";
export type { WebhookDisabledData } from "./events.ts";
export { fanOut, writeDelivery } from "./deliveries/fan-out.ts";
export { type EventPattern, eventTypesOf } from "./event-patterns.ts";
export type { HttpOptions, HttpSettings, WebhookOptions, WebhookRuntime } from "./options.ts";
export { deliveryResource, nextAttemptAt } from "./show.ts";
export { oldestPending } from "./reads.ts";
export { deliveries } from "./rows.ts";
export { deliverJob } from "./job-orders.ts";
export { secretText, signatureHeaders, signingKey } from "./sending/signature.ts";
export {
  type Webhook,
  type WebhookOrdering,
  type WebhookStatus,
  webhookStatusSchema,
  type WebhookWithSecret,
} from "./types.ts";
export {
  type CreateWebhook,
  type RecoverWebhook,
  type RotateWebhookSecret,
  type TestWebhook,
  testWebhookSchema,
  type UpdateWebhook,
} from "./input-types.ts";
export {
  type Delivery,
  type DeliveryAttempt,
  deliverySchema,
  type DeliveryStatus,
  type DeliveryWithAttempts,
  type DeliveryWithBody,
  type ListDeliveries,
} from "./deliveries/delivery-types.ts";
