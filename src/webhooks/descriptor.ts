import { bookmarks, deliveries, deliveryAttempts, webhookPatterns, webhooks } from "./rows.ts";
import { webhookRoutes } from "./routes.ts";
import { eventRoutes } from "../events/index.ts";
import { eventSchema } from "./event-catalog.ts";
import type { Module } from "../operations/index.ts";

export const webhooksModule: Module = {
  collections: [webhooks, webhookPatterns, deliveries, deliveryAttempts, bookmarks],
  tags: [
    {
      name: "Webhooks",
      description: "Endpoints of yours that are told of events, and every try to tell them.",
    },
  ],
  routes: [...webhookRoutes, ...eventRoutes(eventSchema)],
};
