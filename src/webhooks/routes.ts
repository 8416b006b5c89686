import { createWebhook } from "./create.ts";
import { recoverWebhook } from "./recover.ts";
import { redeliver } from "./redeliver.ts";
import { removeWebhook } from "./remove.ts";
import { rotateWebhookSecret } from "./rotate-secret.ts";
import { updateWebhook } from "./update.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
import {
  createdWebhookSchema,
  deliverySchema,
  deliveryWithAttemptsSchema,
  webhookSchema,
} from "./types.ts";
import { pageSchema } from "../kernel/index.ts";
import type { Route } from "../operations/index.ts";

const read = { tag: "Webhooks", scopes: ["webhooks:read"] } as const;
const write = { tag: "Webhooks", scopes: ["webhooks:write"] } as const;

export const webhookRoutes: readonly Route[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks",
    operation: createWebhook,
    summary: "Create a webhook",
    description: "Its secret is shown this once. It is told of what happens from now on.",
    response: createdWebhookSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks",
    operation: listWebhooks,
    summary: "List webhooks",
    description: "Newest first.",
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
      "Pauses and enables it too. What it was told of before goes to the new URL; a new filter is for events from now on.",
    response: webhookSchema,
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/webhooks/:id",
    operation: removeWebhook,
    summary: "Delete a webhook",
    description: "With its deliveries. Nothing more is sent to it.",
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/rotate-secret",
    operation: rotateWebhookSecret,
    summary: "Rotate a webhook's secret",
    description: "The old one signs too for a while; the one before that ends now.",
    response: createdWebhookSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries",
    operation: listDeliveries,
    summary: "List a webhook's deliveries",
    description: "Newest first.",
    response: pageSchema(deliverySchema).meta({ id: "DeliveryPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries/:delivery_id",
    operation: getDelivery,
    summary: "Get a delivery",
    description: "With what is sent, and every attempt.",
    response: deliveryWithAttemptsSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/deliveries/:delivery_id/redeliver",
    operation: redeliver,
    summary: "Deliver once more",
    description: "Whatever became of it: one attempt, beside those of the schedule.",
    response: deliverySchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/recover",
    operation: recoverWebhook,
    summary: "Deliver what failed once more",
    description: "One attempt for each failed delivery that was made since a time.",
    response: webhookSchema,
  },
];
