import { anyEventSchema } from "./event-catalog.ts";
import { webhookJobs } from "./jobs.ts";
import { webhookHandles } from "./handles.ts";
import { webhookRoutes } from "./routes.ts";
import { cursors, deliveries, deliveryAttempts, webhookPatterns, webhooks } from "./rows.ts";
import { eventRoutes } from "../events/index.ts";
import type { Module } from "../operations/index.ts";

export const webhooksModule: Module<typeof webhookJobs, typeof webhookHandles> = {
  collections: [webhooks, webhookPatterns, deliveries, deliveryAttempts, cursors],
  jobs: webhookJobs,
  tags: [
    {
      name: "Webhooks",
      description: "Endpoints that receive events, and a record of every delivery attempt.",
    },
  ],
  // The schema of all events is known here: the catalog names the events of every lower module.
  routes: [...webhookRoutes, ...eventRoutes(anyEventSchema)],
  handles: webhookHandles,
};
