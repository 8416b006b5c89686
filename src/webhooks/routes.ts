import {
  createWebhook,
  removeWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "./webhook-commands.ts";
import { recoverWebhook, redeliver } from "./redeliver.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
import { createdWebhookSchema, webhookSchema } from "./types.ts";
import { deliverySchema, deliveryWithAttemptsSchema } from "./delivery-types.ts";
import { pageSchema } from "../kernel/index.ts";
import type { ApiRoute } from "../operations/index.ts";

const read = { tag: "Webhooks", scopes: ["webhooks:read"] } as const;
const write = { tag: "Webhooks", scopes: ["webhooks:write"] } as const;

export const webhookRoutes: readonly ApiRoute[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks",
    operation: createWebhook,
    summary: "Create a webhook",
    description:
      "The secret is returned only in this response. The webhook receives events from now on.",
    response: createdWebhookSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks",
    operation: listWebhooks,
    summary: "List webhooks",
    description: "Returns the newest first.",
    response: pageSchema(webhookSchema).meta({ id: "WebhookPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id",
    operation: getWebhook,
    summary: "Get a webhook",
    response: webhookSchema,
  },
  {
    ...write,
    method: "PATCH",
    path: "/v1/webhooks/:id",
    operation: updateWebhook,
    summary: "Edit a webhook",
    description:
      "Also pauses and enables the webhook. Pending deliveries go to the new URL. A new event " +
      "filter applies to later events only.",
    response: webhookSchema,
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/webhooks/:id",
    operation: removeWebhook,
    summary: "Delete a webhook",
    description: "Also deletes its deliveries. No further request is started.",
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/rotate-secret",
    operation: rotateWebhookSecret,
    summary: "Rotate a webhook's secret",
    description:
      "The old secret still signs for the grace period. An older secret stops signing now.",
    response: createdWebhookSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries",
    operation: listDeliveries,
    summary: "List a webhook's deliveries",
    description: "Returns the newest first.",
    response: pageSchema(deliverySchema).meta({ id: "DeliveryPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries/:delivery_id",
    operation: getDelivery,
    summary: "Get a delivery",
    description: "Includes the request body and every attempt.",
    response: deliveryWithAttemptsSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/deliveries/:delivery_id/redeliver",
    operation: redeliver,
    summary: "Redeliver a delivery",
    description:
      "Makes one attempt in addition to the retry schedule, whatever the delivery's status.",
    response: deliverySchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/recover",
    operation: recoverWebhook,
    summary: "Redeliver failed deliveries",
    description:
      "Makes one attempt for each failed delivery that was created since the given time.",
    response: webhookSchema,
  },
];
